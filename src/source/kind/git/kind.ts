/**
 * A branch of a git repository as a source. The newest commit is fetched into a bare repository
 * beside the store; blob ids are the stamps, so an unchanged file is not read.
 */

import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import {
  compareKeys,
  type FollowedPlace,
  type Listed,
  type ListedPage,
  type ListFrom,
  type SourceKind,
} from '../../../engine/sync/source-kind.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { isIgnored } from '../../files.ts';
import { wantedBy } from '../wanted.ts';
import { git, gitBytes, gitOutput } from './git.ts';
import { checkBranch, isRepository, repositoryOf } from './repository.ts';

export interface GitKindOptions {
  /** Where fetched objects are kept. */
  readonly folder: string;
}

const followed = 'refs/pawl/followed';

export function gitKind({ folder }: GitKindOptions): SourceKind {
  const cloneOf = (place: FollowedPlace): string =>
    join(folder, hash('sha256', nameOf(place)).slice(0, 32));
  return {
    name: 'git',
    check: async ({ location, options }) => {
      if (options.branch !== undefined) checkBranch(options.branch);
      const isPath = isAbsolute(location) || existsSync(resolve(location));
      if (!isPath) return repositoryOf(location).location;
      const path = resolve(location);
      if (isRepository(path)) return path;
      throw new Failure('source_missing', `there is no repository in ${path}`);
    },
    list: (place, from) => list(place, from, cloneOf(place)),
    // The stamp is the id of the content: a later fetch may have moved the reference.
    read: async (place, key, { signal, stamp }) => {
      const object = isObjectId(stamp) ? stamp : `${followed}:${key}`;
      const args = ['-C', cloneOf(place), 'cat-file', 'blob', object];
      return gitBytes({ args, signal }, limits.document.sourceBytesMax);
    },
    sourceOf: (place, key) => ({ kind: 'upload', source: `${nameOf(place)}:${key}` }),
  };
}

function isObjectId(stamp: string | null | undefined): stamp is string {
  return stamp !== null && stamp !== undefined && /^[0-9a-f]{40,64}$/.test(stamp);
}

function nameOf({ location, options: { branch } }: FollowedPlace): string {
  return branch === undefined ? location : `${location}#${branch}`;
}

async function* list(
  place: FollowedPlace,
  { after, signal }: ListFrom,
  clone: string,
): AsyncGenerator<ListedPage> {
  await update(place, clone, signal);
  const isWanted = wantedBy(place);
  let entries: Listed[] = [];
  let last = '';
  for await (const entry of treeOf(clone, signal)) {
    // The order of the index is that of the bytes of the paths.
    if (compareKeys(last, entry.key) >= 0) throw disordered(entry.key);
    last = entry.key;
    if (compareKeys(entry.key, after) <= 0 || !isWanted(entry.key)) continue;
    entries.push(entry);
    if (entries.length < limits.sync.pageMax) continue;
    yield { entries, problems: [] };
    entries = [];
  }
  yield { entries, problems: [] };
}

function disordered(key: string): Failure {
  return new Failure('source_unreadable', `the tree of the repository is damaged at ${key}`);
}

/** Fetches the newest commit of the branch, without its history. */
async function update(place: FollowedPlace, clone: string, signal: AbortSignal): Promise<void> {
  const { location, protocols } = repositoryOf(place.location);
  if (!existsSync(join(clone, 'HEAD'))) {
    await mkdir(clone, { recursive: true });
    await git({ args: ['init', '--quiet', '--bare', '--', clone], signal });
  }
  const { branch } = place.options;
  const from = branch === undefined ? 'HEAD' : `refs/heads/${checkBranch(branch)}`;
  const terms = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--force'];
  const ends = ['--upload-pack=git-upload-pack', '--', location, `${from}:${followed}`];
  await git({ args: ['-C', clone, 'fetch', ...terms, ...ends], signal, protocols });
}

/** The files of the commit. Links, submodules and files beyond the limit are skipped. */
async function* treeOf(clone: string, signal: AbortSignal): AsyncGenerator<Listed> {
  const args = ['-C', clone, 'ls-tree', '-r', '-z', '-l', '--full-tree', followed];
  let files = 0;
  for await (const row of rowsOf(gitOutput({ args, signal }))) {
    files += 1;
    if (files > limits.sync.filesMax) {
      const message = `the repository has more than ${limits.sync.filesMax} files`;
      throw new Failure('too_many_sources', message);
    }
    const entry = entryOf(row);
    if (entry) yield entry;
  }
}

async function* rowsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    let text: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (let end = text.indexOf(0); end >= 0; end = text.indexOf(0)) {
      yield text.subarray(0, end);
      text = text.subarray(end + 1);
    }
    if (text.length > limits.sync.gitRowBytesMax) {
      throw new Failure('source_unreadable', 'a path of the repository is too long');
    }
    rest = text;
  }
}

function entryOf(row: Buffer): Listed | undefined {
  const tab = row.indexOf(9);
  const [mode = '', , id = '', size = ''] = row.subarray(0, tab).toString('latin1').split(/ +/);
  const path = row.subarray(tab + 1);
  if (!mode.startsWith('100') || !isUtf8(path)) return undefined;
  if (Number(size) > limits.document.sourceBytesMax) return undefined;
  const key = path.toString();
  if (key.split('/').some(isIgnored)) return undefined;
  return { key, stamp: id, size: Number(size) };
}
