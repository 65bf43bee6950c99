/**
 * A folder as a source. Size and times decide whether a file is read: an unchanged folder is
 * compared without reading any. Files are named by their path below the folder.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type Dirent, type Stats, stat as statNow } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import {
  compareKeys,
  type FollowedPlace,
  type Listed,
  type ListedPage,
  type ListFrom,
  type SourceKind,
  unsettled,
} from '../../engine/sync/source-kind.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pathOfSource, sourceOfPath } from '../../pipeline/fetch/file-path.ts';
import { isIgnored, linkRefusal } from '../files.ts';
import { wantedBy } from './wanted.ts';

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
    has: async (place, key) =>
      wantedBy(place)(key) && ((await statOf(pathOf(place, key)))?.isFile() ?? false),
    sourceOf: (place, key) => ({ kind: 'file', source: sourceName(place, key) }),
    prefixOf: startOf,
  };
}

/** How the paths of its files begin. */
function startOf({ location }: FollowedPlace): string {
  return `${location}${location.endsWith(sep) ? '' : sep}`;
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

/** Escapes names that are not UTF-8, and those that look escaped. */
const hexMark = '\ufffd';
const escaped = /^\ufffd(?:[0-9a-f]{2})+$/;

function keyName(name: Buffer): string {
  const text = name.toString();
  const isPlain = isUtf8(name) && !escaped.test(text);
  return isPlain ? text : `${hexMark}${name.toString('hex')}`;
}

function bytesOf(keyPart: string): Buffer {
  return escaped.test(keyPart)
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

interface WalkOptions extends Pick<ListFrom, 'after' | 'signal'> {
  readonly now: () => number;
}

interface Entry {
  readonly key: string;
  /** The key; with a slash at the end if it is a folder. */
  readonly order: string;
  readonly type: 'file' | 'folder' | 'link';
}

/** A folder that the walk is in. */
interface OpenFolder {
  readonly entries: readonly Entry[];
  next: number;
}

/** One walk through a folder, in the order of the bytes of its keys. */
class Walk {
  readonly #place: FollowedPlace;
  readonly #options: WalkOptions;
  readonly #start: string;
  readonly #isWanted: (key: string) => boolean;
  #problems: Failure[] = [];
  #real = '';

  constructor(place: FollowedPlace, options: WalkOptions) {
    this.#place = place;
    this.#options = options;
    this.#start = startOf(place);
    this.#isWanted = wantedBy(place);
  }

  async *pages(): AsyncGenerator<ListedPage> {
    const { location } = this.#place;
    const root = await rootOf(location);
    this.#real = await realpath(location);
    const path: OpenFolder[] = [{ entries: await this.#entries(''), next: 0 }];
    for (let keys = await this.#keys(path); ; keys = await this.#keys(path)) {
      yield await this.#page(keys);
      if (keys.length < limits.sync.folderPageMax) break;
    }
    // The folder may have been unmounted or exchanged while it was read.
    const end = await rootOf(location);
    if (end.dev === root.dev && end.ino === root.ino) return;
    throw new Failure('source_unreadable', `the folder ${location} was exchanged during the run`);
  }

  /** The keys of the next page. Fewer than a page: there are no more. */
  async #keys(path: OpenFolder[]): Promise<string[]> {
    const { signal } = this.#options;
    const keys: string[] = [];
    for (let folder = path.at(-1); folder && keys.length < limits.sync.folderPageMax; ) {
      signal.throwIfAborted();
      const entry = folder.entries[folder.next];
      folder.next += 1;
      if (!entry) path.pop();
      else if (entry.type === 'folder') {
        path.push({ entries: await this.#entries(entry.order), next: 0 });
      } else if (this.#isWanted(entry.key) && (await this.#isRead(entry))) keys.push(entry.key);
      folder = path.at(-1);
    }
    return keys;
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
      const type = typeOf(dirent);
      if (type === undefined || isIgnored(dirent.name.toString())) continue;
      const key = `${folder}${keyName(dirent.name)}`;
      const order = type === 'folder' ? `${key}/` : key;
      if (this.#isAfter(order, type === 'folder')) entries.push({ key, order, type });
    }
    return entries.sort((one, other) => compareKeys(one.order, other.order));
  }

  /** Whether the key, or anything in the folder, comes after the key where the walk begins. */
  #isAfter(order: string, isFolder: boolean): boolean {
    const { after } = this.#options;
    return compareKeys(order, after) > 0 || (isFolder && after.startsWith(order));
  }

  async #isRead({ key, type }: Entry): Promise<boolean> {
    if (type === 'file') return true;
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
      const isPlain = !key.includes(hexMark);
      const found = await statOf(isPlain ? `${this.#start}${key}` : pathOf(this.#place, key));
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

/** Undefined: nothing that can be read. */
function typeOf(dirent: Dirent<Buffer>): Entry['type'] | undefined {
  if (dirent.isFile()) return 'file';
  if (dirent.isDirectory()) return 'folder';
  return dirent.isSymbolicLink() ? 'link' : undefined;
}

/**
 * A file that was written just now may be written again within the same tick of its file system,
 * so its times prove nothing yet.
 */
function stampOf({ size, mtimeMs, ctimeMs }: Stats, now: number): string {
  const isSettled = Math.max(mtimeMs, ctimeMs) < now - limits.sync.settleMs;
  return `${isSettled ? '' : unsettled}${size} ${mtimeMs} ${ctimeMs}`;
}

/**
 * Undefined: there is no such file. Called for each file of a run: with a callback, it takes less
 * memory than with a promise of Node.
 */
function statOf(path: string | Buffer): Promise<Stats | undefined> {
  return new Promise((done, fail) => {
    statNow(path, (error, found) => {
      if (!error) done(found);
      else if (isAbsence(error)) done(undefined);
      else fail(error);
    });
  });
}

function isAbsence({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
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
