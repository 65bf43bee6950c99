/**
 * `NAME.meta.json` beside the file NAME is its sidecar: metadata of that file, and not a document.
 * It is read with the submission. An invalid one is refused, because a file without its tags would
 * be found by the wrong people, or by nobody.
 */
import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { checkMetadata, type Metadata } from '../kernel/metadata/metadata.ts';
import { pathOfSource } from '../pipeline/fetch/file-path.ts';
import type { NewSource } from '../store/job/submit.ts';

const ending = '.meta.json';

/** The sources without sidecars, each with the metadata of its sidecar. */
export async function withSidecars(sources: readonly NewSource[]): Promise<NewSource[]> {
  const named = new Set(sources.map(({ source }) => source));
  const folders = new Map<string, ReadonlySet<string>>();
  const documents: NewSource[] = [];
  for (const each of sources) {
    const { kind, source } = each;
    if (kind !== 'file') documents.push(each);
    else if (!isSidecar(source, named)) {
      const folder = dirname(source);
      const names = folders.get(folder) ?? (await sidecarsIn(folder));
      folders.set(folder, names);
      const metadata = names.has(`${basename(source)}${ending}`)
        ? await readSidecar(`${source}${ending}`)
        : undefined;
      documents.push(metadata ? { ...each, metadata } : each);
    }
  }
  return documents;
}

/** The same for uploads, whose bytes `read` returns. */
export async function withUploadedSidecars(
  sources: readonly NewSource[],
  read: (source: NewSource) => Promise<Uint8Array>,
): Promise<NewSource[]> {
  const bySource = new Map(sources.map((each) => [each.source, each]));
  const documents: NewSource[] = [];
  for (const each of sources) {
    if (isSidecar(each.source, bySource)) continue;
    const sidecar = bySource.get(`${each.source}${ending}`);
    if (!sidecar) documents.push(each);
    else {
      const text = Buffer.from(await read(sidecar)).toString('utf8');
      documents.push({ ...each, metadata: parseSidecar(text, nameOf(sidecar)) });
    }
  }
  return documents;
}

export function sidecarName(name: string): string {
  return `${name}${ending}`;
}

/**
 * What the request states of all its sources. It wins over the sidecar of a file; an inline
 * document has its own metadata in the request, which wins over both.
 */
export function withMetadata(sources: readonly NewSource[], given: unknown): readonly NewSource[] {
  if (given === undefined) return sources;
  const all = checkMetadata(given);
  return sources.map((each) => {
    const metadata =
      each.kind === 'inline' ? { ...all, ...each.metadata } : { ...each.metadata, ...all };
    return { ...each, metadata };
  });
}

function isSidecar(source: string, among: { has(source: string): boolean }): boolean {
  return source.endsWith(ending) && among.has(source.slice(0, -ending.length));
}

/** A folder that cannot be listed has no sidecars: its files fail as documents. */
async function sidecarsIn(folder: string): Promise<ReadonlySet<string>> {
  try {
    const names = await readdir(pathOfSource(folder));
    return new Set(names.filter((name) => name.endsWith(ending)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return new Set();
    throw new Failure('source_unreadable', `${folder} cannot be listed (${code})`, {
      cause: error,
    });
  }
}

async function readSidecar(source: string): Promise<Metadata> {
  const path = pathOfSource(source);
  let text: string;
  try {
    checkSize(source, await stat(path));
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const message = `the sidecar ${source} cannot be read (${code})`;
    throw new Failure('source_unreadable', message, { cause: error });
  }
  return parseSidecar(text, source);
}

function checkSize(source: string, { size }: Pick<Stats, 'size'>): void {
  const { sidecarBytesMax } = limits.metadata;
  if (size <= sidecarBytesMax) return;
  const message = `the sidecar ${source} has ${size} bytes; it may have ${sidecarBytesMax}`;
  throw new Failure('bad_request', message);
}

function parseSidecar(text: string, name: string): Metadata {
  checkSize(name, { size: Buffer.byteLength(text) });
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure('bad_request', `the sidecar ${name} is not JSON: ${reason}`);
  }
  return checkMetadata(value, `the sidecar ${name}`);
}

function nameOf({ source }: NewSource): string {
  return source.replace(/^upload:/, '');
}
