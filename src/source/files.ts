/**
 * Paths, folders and globs become files. One bad entry does not stop the others: what cannot be
 * read is kept as a file, and fails as an item that one can see; what is not followed is told.
 */
import type { Dirent, Stats } from 'node:fs';
import { glob, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { pathOfSource, sourceOfPath } from '../pipeline/fetch/file-path.ts';
import { readUrl } from '../pipeline/fetch/url.ts';

export interface FileOptions {
  /** What paths are relative to; the working directory where absent. */
  readonly directory?: string | undefined;
  /** Reads files that a link inside a folder leads to outside of it. */
  readonly followLinks?: boolean | undefined;
  /** Called for each entry that is left out, with the reason. */
  readonly onSkipped?: ((source: string, reason: string) => void) | undefined;
}

/** The sources of all files that a path, a folder or a glob names. */
export async function* filesOf(input: string, options: FileOptions): AsyncGenerator<string> {
  const { directory = process.cwd() } = options;
  const path = resolve(directory, input);
  const found = await look(path);
  if (found?.isFile()) yield path;
  else if (found?.isDirectory()) yield* walk(await openRoot(path), options);
  else if (found) {
    throw new Failure('source_unreadable', `${input} is neither a file nor a folder`);
  } else if (/[*?[{]/.test(input)) {
    yield* matchesOf(input, { ...options, directory });
  } else {
    // A path may look like an address, but where it leads nowhere it is refused as one.
    if (/^[a-z][a-z0-9+.-]+:/i.test(input)) readUrl(input);
    throw missing(input);
  }
}

function missing(input: string): Failure {
  const isLossy = input.includes('\ufffd');
  const hint = isLossy ? ': its name is not UTF-8, so name the folder that holds it' : '';
  return new Failure('source_missing', `there is no file or folder ${input}${hint}`);
}

/** What a source leads to, or undefined where it leads nowhere. */
export async function look(source: string): Promise<Stats | undefined> {
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
  /** Where the walk began, without links: what is below it is inside. */
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
 * Every file below a folder, in the order of the names. Links to folders are not followed: they may
 * lead round in circles. A link that leads nowhere, and a folder that cannot be listed, are kept.
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
    // As an item it says why it cannot be read, and can be retried.
    yield sourceOfPath(path);
    return;
  }
  yield* walk({ path, root, entries }, options);
}

/** Why a link is not read; undefined: it is read, or fails where everybody sees it. */
async function linkRefusal(
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
    // A link to nowhere, or round in a circle.
    return undefined;
  }
  if (found.isDirectory()) return 'it is a link to a folder';
  if (!found.isFile()) return 'it is a link to something that is not a file';
  if (followLinks || target.startsWith(`${root}${sep}`)) return undefined;
  return 'it is a link that leaves the folder (--follow-links reads it)';
}

function isIgnored(name: string): boolean {
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
  const root = await realpath(fixedPart(pattern, directory)).catch(() => directory);
  for await (const match of glob(pattern, { cwd: directory, exclude })) {
    const path = resolve(directory, match);
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

/** The same for what a glob matches; the empty reason is that of a folder, which holds matches. */
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

/** The folder that a glob cannot leave by its own signs. */
function fixedPart(pattern: string, directory: string): string {
  const [fixed = ''] = pattern.split(/[*?[{]/);
  return resolve(directory, fixed.endsWith(sep) || fixed === '' ? fixed : dirname(fixed));
}

export function tooMany(): Failure {
  const message = `a job takes up to ${limits.job.itemsMax} sources, and these are more`;
  return new Failure('too_many_sources', message);
}
