/**
 * Paths, folders and globs become files. One bad entry does not stop the others: an unreadable
 * entry is kept as a file and fails as a visible item; a skipped entry is reported.
 */
import type { Dirent, Stats } from 'node:fs';
import { glob, readdir, realpath, stat } from 'node:fs/promises';
import { basename, resolve, sep } from 'node:path';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { pathOfSource, sourceOfPath } from '../pipeline/fetch/file-path.ts';
import { readUrl } from '../pipeline/fetch/url.ts';

export interface FileOptions {
  /** The base of relative paths; the working directory if absent. */
  readonly directory?: string | undefined;
  /** Follows links inside a folder to files outside of it. */
  readonly followLinks?: boolean | undefined;
  /** Called for each skipped entry, with the reason. */
  readonly onSkipped?: ((source: string, reason: string) => void) | undefined;
}

/** The sources of all files that a path, a folder or a glob names. */
export async function* filesOf(input: string, options: FileOptions): AsyncGenerator<string> {
  const { directory = process.cwd() } = options;
  const path = resolve(directory, input);
  const found = await statSource(path);
  if (found?.isFile()) yield path;
  else if (found?.isDirectory()) yield* walk(await openRoot(path), options);
  else if (found) {
    throw new Failure('source_unreadable', `${input} is neither a file nor a folder`);
  } else if (/[*?[{]/.test(input)) {
    yield* matchesOf(input, { ...options, directory });
  } else {
    // A path may look like a URL; if no such file exists, it is refused as a URL.
    if (/^[a-z][a-z0-9+.-]+:/i.test(input)) readUrl(input);
    throw missing(input);
  }
}

function missing(input: string): Failure {
  const isLossy = input.includes('\ufffd');
  const hint = isLossy ? ': its name is not UTF-8, so name the folder that holds it' : '';
  return new Failure('source_missing', `there is no file or folder ${input}${hint}`);
}

/** The file behind a source; undefined if there is none. */
export async function statSource(source: string): Promise<Stats | undefined> {
  try {
    return await stat(pathOfSource(source));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure('source_unreadable', `${source} cannot be read (${code})`, { cause: error });
  }
}

interface Folder {
  readonly path: Buffer;
  /** The real path of the walk's root, used to check whether a file is inside. */
  readonly root: string;
  readonly entries: readonly Dirent<Buffer>[];
}

async function openRoot(path: string): Promise<Folder> {
  try {
    const bytes = Buffer.from(path);
    return { path: bytes, root: await realpath(path), entries: await list(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `the folder ${path} cannot be read (${code})`;
    throw new Failure('source_unreadable', message, { cause: error });
  }
}

async function list(folder: Buffer): Promise<Dirent<Buffer>[]> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  return entries.sort((one, other) => Buffer.compare(one.name, other.name));
}

/**
 * Every file below a folder, sorted by name. Links to folders are not followed: they may form
 * cycles. A dangling link and an unreadable folder are kept.
 */
async function* walk(
  { path, root, entries }: Folder,
  options: FileOptions,
): AsyncGenerator<string> {
  for (const entry of entries) {
    if (isIgnored(entry.name.toString())) continue;
    const inner = Buffer.concat([path, Buffer.from(sep), entry.name]);
    const source = sourceOfPath(inner);
    if (entry.isDirectory()) yield* walkInner(inner, root, options);
    else if (entry.isFile()) yield source;
    else {
      const reason = entry.isSymbolicLink()
        ? await linkRefusal(source, root, options)
        : 'it is neither a file nor a folder';
      if (reason === undefined) yield source;
      else options.onSkipped?.(source, reason);
    }
  }
}

async function* walkInner(
  path: Buffer,
  root: string,
  options: FileOptions,
): AsyncGenerator<string> {
  let entries: Dirent<Buffer>[];
  try {
    entries = await list(path);
  } catch {
    // As an item it shows the reason, and can be retried.
    yield sourceOfPath(path);
    return;
  }
  yield* walk({ path, root, entries }, options);
}

/** Why a link is skipped. Undefined if it is read, or if it fails as a visible item. */
export async function linkRefusal(
  source: string,
  root: string,
  { followLinks = false }: FileOptions,
): Promise<string | undefined> {
  let target: string;
  let found: Stats;
  try {
    target = await realpath(pathOfSource(source));
    found = await stat(pathOfSource(source));
  } catch {
    // A dangling or cyclic link.
    return undefined;
  }
  if (found.isDirectory()) return 'it is a link to a folder';
  if (!found.isFile()) return 'it is a link to something that is not a file';
  if (followLinks || target.startsWith(`${root}${sep}`)) return undefined;
  return 'it is a link that leaves the folder (--follow-links reads it)';
}

export function isIgnored(name: string): boolean {
  return (name.startsWith('.') && !/^\.+$/.test(name)) || name === 'node_modules';
}

async function* matchesOf(
  pattern: string,
  options: FileOptions & { readonly directory: string },
): AsyncGenerator<string> {
  const { directory } = options;
  const exclude = (path: string): boolean => isIgnored(basename(path));
  const matches: string[] = [];
  let skipped = 0;
  const { folder, rest } = splitAtWildcard(pattern);
  const cwd = resolve(directory, folder);
  const root = await realpath(cwd).catch(() => directory);
  // From the folder that is named in full: names in its path are not ignored.
  for await (const match of glob(rest, { cwd, exclude })) {
    const path = resolve(cwd, match);
    const reason = await matchRefusal(path, root, options);
    if (reason === undefined) matches.push(path);
    else if (reason !== '') {
      skipped += 1;
      options.onSkipped?.(path, reason);
    }
    if (matches.length > limits.job.itemsMax) throw tooMany();
  }
  if (matches.length + skipped === 0) {
    throw new Failure('source_missing', `no file matches ${pattern}`);
  }
  yield* matches.sort();
}

/**
 * Like `linkRefusal`, for a glob match. The reason is empty for a folder, which contains matches.
 */
async function matchRefusal(
  path: string,
  root: string,
  options: FileOptions,
): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return '';
    return await linkRefusal(path, root, options);
  } catch {
    // It fails as an item.
    return undefined;
  }
}

/** The folder that the glob's wildcards cannot leave, and the pattern below it. */
function splitAtWildcard(pattern: string): { folder: string; rest: string } {
  const [fixed = ''] = pattern.split(/[*?[{]/);
  const end = fixed.lastIndexOf(sep) + 1;
  return { folder: pattern.slice(0, end), rest: pattern.slice(end) };
}

export function tooMany(): Failure {
  const message = `a job takes up to ${limits.job.itemsMax} sources: split the input`;
  return new Failure('too_many_sources', message);
}
