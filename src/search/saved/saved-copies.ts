/**
 * Saves the in-memory copies of large corpora beside the store, so that the next process reads one
 * file instead of every row. A file belongs to an event of the log: if the store has no such event,
 * or another one, the file is of another history and is not read. What is read is compared with the
 * current generation of every document before it is used, as a copy in memory is.
 *
 * A file keeps numbers of removed texts: rounded vectors and hashes of words. So a deletion makes
 * the sweep remove the file, and any other change does after a day.
 */
import { hash } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../kernel/limits/limits.ts';
import type { Database } from '../../store/driver/database.ts';
import { type ChangesSince, countChanges, stampOf } from '../../store/search/saved-place.ts';
import type { CopyOf } from '../follower.ts';
import type { Saveable } from './saveable.ts';
import { SavedFile, writeSaved } from './saved-file.ts';

/** Changes with what an index writes. */
const format = 1;
const suffix = '.index';
const partSuffix = '.part';

export interface SavedCopiesOptions {
  /** Created with the first file. */
  readonly folder: string;
  readonly database: Database;
  /** Files of other versions of Pawl are not read. */
  readonly version: string;
  /** Takes failures of files: a search does without them. */
  readonly onError: (what: string, error: unknown) => void;
  /** Smaller copies are quickly read from the store. */
  readonly chunksMin?: number | undefined;
}

interface Header {
  readonly format: number;
  readonly version: string;
  readonly of: CopyOf;
  readonly chunks: number;
  /** All changes up to this event are in the file. */
  readonly cursor: number;
  readonly stamp: string | null;
  readonly savedAt: number;
}

export class SavedCopies {
  readonly #options: Required<SavedCopiesOptions>;
  readonly #saving = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: SavedCopiesOptions) {
    this.#options = { ...options, chunksMin: options.chunksMin ?? limits.search.savedChunksMin };
  }

  get chunksMin(): number {
    return this.#options.chunksMin;
  }

  /** Whether there is a file of this copy that little has changed since. */
  async isRecent(of: CopyOf): Promise<boolean> {
    const file = await this.#open(of);
    if (!file) return false;
    await file.close();
    return isNearly(file.header, await this.#changesSince(file.header));
  }

  /** Whether the store has to be asked for little or nothing of it, and nothing of it is gone. */
  async #isGood(of: CopyOf): Promise<boolean> {
    const file = await this.#open(of);
    if (!file) return false;
    await file.close();
    const changes = await this.#changesSince(file.header);
    return changes.removals === 0 && isNearly(file.header, changes);
  }

  /** Fills the copy, which is empty, with what was saved. False: it stays empty. */
  async restore(of: CopyOf, copy: Saveable): Promise<boolean> {
    const file = await this.#open(of);
    if (!file) return false;
    try {
      const isWhole = await this.#reported(file.content.isWhole());
      if (isWhole) await copy.restore(file.content);
      else await this.#reported(rm(this.#pathOf(of), { force: true }));
      return isWhole === true;
    } finally {
      await file.close();
    }
  }

  /** Saves the copy in the background, unless that was done not long ago or it is small. */
  saveSoon(of: CopyOf, copy: Saveable, cursor: number): void {
    if (this.#isClosed || copy.size < this.chunksMin) return;
    const saving = this.#save(of, copy, cursor)
      .catch((error) => {
        if (!this.#isClosed) this.#options.onError('saving an index', error);
      })
      .finally(() => this.#saving.delete(saving));
    this.#saving.add(saving);
  }

  async whenSaved(): Promise<void> {
    await Promise.all(this.#saving);
  }

  /** Removes the files that are not to be read, or that keep what was removed from the store. */
  async sweep(): Promise<void> {
    const { folder, database } = this.#options;
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (name.endsWith(partSuffix)) await removeOld(path, database.now());
      else if (name.endsWith(suffix) && !(await this.#isKept(path)))
        await rm(path, { force: true });
    }
  }

  /** A file that is being written is given up. A short command has no other sweep than this. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.whenSaved();
    await this.sweep().catch((error) => this.#options.onError('removing saved indexes', error));
  }

  async #save(of: CopyOf, copy: Saveable, cursor: number): Promise<void> {
    const { folder, database, version } = this.#options;
    const { size: chunks, version: saved } = copy;
    const isCurrent = () => copy.version === saved && !this.#isClosed;
    if (await this.#isGood(of)) return;
    // Reads may have seen commits that are not on disk yet.
    await database.flushed();
    const stamp = await stampOf(database, cursor);
    if (stamp === undefined || !isCurrent()) return;
    const savedAt = database.now();
    const header: Header = { format, version, of, chunks, cursor, stamp, savedAt };
    await mkdir(folder, { recursive: true });
    const path = this.#pathOf(of);
    const part = `${path}.${process.pid}${partSuffix}`;
    await writeSaved(path, part, { header, pieces: copy.pieces(), isCurrent });
  }

  async #isKept(path: string): Promise<boolean> {
    const file = await this.#openAt(path);
    if (!file) return false;
    await file.close();
    const { count, removals } = await this.#changesSince(file.header);
    const age = this.#options.database.now() - file.header.savedAt;
    return removals === 0 && (count === 0 || age < limits.search.savedAgeMsMax);
  }

  async #open(of: CopyOf) {
    const file = await this.#openAt(this.#pathOf(of));
    const isSame = file && JSON.stringify(file.header.of) === JSON.stringify(of);
    if (!file || isSame) return file;
    await file.close();
    return undefined;
  }

  /** A file of this store and of this version. */
  async #openAt(path: string) {
    const content = await this.#reported(SavedFile.open(path));
    if (!content) return undefined;
    const header = content.header as Header;
    let isOfThis = false;
    try {
      isOfThis = await this.#isOfThis(header);
    } finally {
      if (!isOfThis) await content.close();
    }
    return isOfThis ? { header, content, close: () => content.close() } : undefined;
  }

  /** Undefined if it fails: then there is no file. */
  #reported<T>(reading: Promise<T>): Promise<T | undefined> {
    return reading.catch((error) => {
      this.#options.onError('reading a saved index', error);
      return undefined;
    });
  }

  async #isOfThis({ format: written, version, cursor, stamp }: Header): Promise<boolean> {
    const { database, version: own } = this.#options;
    return written === format && version === own && (await stampOf(database, cursor)) === stamp;
  }

  #changesSince({ cursor, chunks }: Header): Promise<ChangesSince> {
    const limit = Math.floor(chunks / limits.search.savedChunksPerChange) + 1;
    return countChanges(this.#options.database, { after: cursor, limit });
  }

  #pathOf({ caller, corpus, kind }: CopyOf): string {
    const name = hash('sha256', JSON.stringify([caller, corpus, kind])).slice(0, 32);
    return join(this.#options.folder, `${name}${suffix}`);
  }
}

/** Each change reads a document again. */
function isNearly({ chunks }: Header, { count }: ChangesSince): boolean {
  return count * limits.search.savedChunksPerChange <= chunks;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A process that was killed left it; a living one is done within seconds. */
async function removeOld(path: string, now: number): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (now - mtimeMs > limits.search.savedAgeMsMax) await rm(path, { force: true });
}
