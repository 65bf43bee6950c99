/**
 * A folder as a source. Size and times decide whether a file is read: an unchanged folder is
 * compared without reading any. Files are named by their path below the folder.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type {
  FollowedPlace,
  Listed,
  ListedPage,
  SourceKind,
} from '../../engine/sync/source-kind.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { compileGlob } from '../../pipeline/crawl/glob.ts';
import { pathOfSource, sourceOfPath } from '../../pipeline/fetch/file-path.ts';
import { isIgnored, linkRefusal } from '../files.ts';

export interface FolderOptions {
  /** The clock that file times are compared with. */
  readonly now?: (() => number) | undefined;
}

export function folderKind({ now = Date.now }: FolderOptions = {}): SourceKind {
  return {
    name: 'folder',
    check: checkFolder,
    list: (place, from) => new Walk(place, { ...from, now }).pages(),
    digest: (place, key) => digestOf(pathOf(place, key)),
    has: async (place, key) => (await statOf(pathOf(place, key)))?.isFile() ?? false,
    sourceOf: (place, key) => ({ kind: 'file', source: sourceName(place, key) }),
    prefixOf: ({ location }) => `${location}${location.endsWith(sep) ? '' : sep}`,
  };
}

async function checkFolder({ location }: FollowedPlace): Promise<string> {
  const path = resolve(location);
  const found = await rootOf(path);
  if (!found.isDirectory()) {
    const message = `${path} is not a folder: name a folder, or use \`pawl ingest\` for a file`;
    throw new Failure('bad_request', message);
  }
  return path;
}

async function rootOf(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new Failure('source_missing', `there is no folder ${path}`, { cause: error });
    }
    throw new Failure('source_unreadable', `the folder ${path} cannot be read (${code})`, {
      cause: error,
    });
  }
}

/** Names that are not UTF-8 are escaped behind this character. */
const hexMark = '\ufffd';

function keyName(name: Buffer): string {
  return isUtf8(name) ? name.toString() : `${hexMark}${name.toString('hex')}`;
}

function bytesOf(keyPart: string): Buffer {
  return keyPart.startsWith(hexMark)
    ? Buffer.from(keyPart.slice(hexMark.length), 'hex')
    : Buffer.from(keyPart);
}

function sourceName({ location }: FollowedPlace, key: string): string {
  if (!key.includes(hexMark)) return join(location, ...key.split('/'));
  const parts = key.split('/').flatMap((part) => [Buffer.from(sep), bytesOf(part)]);
  return sourceOfPath(Buffer.concat([Buffer.from(location), ...parts]));
}

function pathOf(place: FollowedPlace, key: string): string | Buffer {
  return pathOfSource(sourceName(place, key));
}

interface WalkOptions {
  readonly after: string;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

interface Entry {
  readonly key: string;
  readonly order: Buffer;
  readonly dirent: Dirent<Buffer>;
}

/** One walk through a folder, in the order of the bytes of its keys. */
class Walk {
  readonly #place: FollowedPlace;
  readonly #options: WalkOptions;
  readonly #after: Buffer;
  readonly #isWanted: (key: string) => boolean;
  #problems: Failure[] = [];
  #real = '';

  constructor(place: FollowedPlace, options: WalkOptions) {
    this.#place = place;
    this.#options = options;
    this.#after = Buffer.from(options.after);
    this.#isWanted = wantedBy(place);
  }

  async *pages(): AsyncGenerator<ListedPage> {
    const { location } = this.#place;
    const root = await rootOf(location);
    this.#real = await realpath(location);
    let keys: string[] = [];
    for await (const key of this.#keys('')) {
      keys.push(key);
      if (keys.length < limits.sync.pageMax) continue;
      yield await this.#page(keys);
      keys = [];
    }
    yield await this.#page(keys);
    // The folder may have been unmounted or exchanged while it was read.
    const end = await rootOf(location);
    if (end.dev === root.dev && end.ino === root.ino) return;
    throw new Failure('source_unreadable', `the folder ${location} was exchanged during the run`);
  }

  async *#keys(folder: string): AsyncGenerator<string> {
    for (const { key, dirent } of await this.#entries(folder)) {
      this.#options.signal.throwIfAborted();
      if (dirent.isDirectory()) yield* this.#keys(`${key}/`);
      else if (!this.#isWanted(key)) continue;
      else if (dirent.isFile() || (await this.#isLinkRead(key, dirent))) yield key;
    }
  }

  /** A folder sorts as its name with a slash: then a walk has the order of whole keys. */
  async #entries(folder: string): Promise<Entry[]> {
    const path = folder === '' ? this.#place.location : pathOf(this.#place, folder.slice(0, -1));
    let dirents: Dirent<Buffer>[];
    try {
      dirents = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message = `the folder ${this.#place.location}/${folder} cannot be read (${code})`;
      const failure = new Failure('source_unreadable', message, { cause: error });
      if (folder === '') throw failure;
      this.#problems.push(failure);
      return [];
    }
    const entries: Entry[] = [];
    for (const dirent of dirents) {
      if (isIgnored(dirent.name.toString())) continue;
      const key = `${folder}${keyName(dirent.name)}`;
      const order = Buffer.from(dirent.isDirectory() ? `${key}/` : key);
      if (this.#isAfter(order, dirent.isDirectory())) entries.push({ key, order, dirent });
    }
    return entries.sort((one, other) => Buffer.compare(one.order, other.order));
  }

  /** Whether the key, or anything in the folder, comes after the key where the walk begins. */
  #isAfter(order: Buffer, isFolder: boolean): boolean {
    if (Buffer.compare(order, this.#after) > 0) return true;
    return isFolder && this.#after.subarray(0, order.length).equals(order);
  }

  async #isLinkRead(key: string, dirent: Dirent<Buffer>): Promise<boolean> {
    if (!dirent.isSymbolicLink()) return false;
    const { followLinks = false } = this.#place.options;
    const source = sourceName(this.#place, key);
    return (await linkRefusal(source, this.#real, { followLinks })) === undefined;
  }

  async #page(keys: readonly string[]): Promise<ListedPage> {
    const entries: Listed[] = [];
    const { statsAtOnce } = limits.sync;
    for (let at = 0; at < keys.length; at += statsAtOnce) {
      const some = keys.slice(at, at + statsAtOnce);
      const listed = await Promise.all(some.map((key) => this.#listed(key)));
      entries.push(...listed.filter((entry) => entry !== undefined));
    }
    const problems = this.#problems;
    this.#problems = [];
    return { entries, problems };
  }

  async #listed(key: string): Promise<Listed | undefined> {
    try {
      const found = await statOf(pathOf(this.#place, key));
      if (!found?.isFile()) return undefined;
      return { key, size: found.size, stamp: stampOf(found, this.#options.now()) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message = `${sourceName(this.#place, key)} cannot be read (${code})`;
      this.#problems.push(new Failure('source_unreadable', message, { cause: error }));
      return undefined;
    }
  }
}

/**
 * A file that was written just now may be written again within the same tick of its file system,
 * so its times prove nothing yet: the empty stamp equals no other.
 */
function stampOf({ size, mtimeMs, ctimeMs }: Stats, now: number): string {
  const isSettled = Math.max(mtimeMs, ctimeMs) < now - limits.sync.settleMs;
  return isSettled ? `${size} ${mtimeMs} ${ctimeMs}` : '';
}

/** Undefined: there is no such file. */
async function statOf(path: string | Buffer): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

async function digestOf(path: string | Buffer): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const hash = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk);
      return hash.digest('hex');
    } finally {
      await file.close();
    }
  } catch {
    // It is submitted, and its item fails with the reason.
    return undefined;
  }
}

export function wantedBy({ options }: FollowedPlace): (key: string) => boolean {
  const include = (options.include ?? []).map(compileGlob);
  const exclude = (options.exclude ?? []).map(compileGlob);
  if (include.length + exclude.length === 0) return () => true;
  return (key) =>
    (include.length === 0 || include.some((matches) => matches(key))) &&
    !exclude.some((matches) => matches(key));
}
