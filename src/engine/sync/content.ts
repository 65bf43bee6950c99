/** The content of documents that a kind reads itself: stored as blobs, named by their hash. */
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewSource } from '../../store/job/submit.ts';
import type { FollowedPlace, Listed, SourceKind } from './source-kind.ts';

export interface Reading {
  readonly kind: SourceKind;
  readonly place: FollowedPlace;
  readonly blobs: BlobStore | undefined;
  readonly signal: AbortSignal;
}

export interface Digest {
  readonly digest: string | null;
  readonly is_stored: number;
}

export const noDigest: Digest = { digest: null, is_stored: 0 };

/** The hash of the content now. Content that had to be read for it is stored: it is read once. */
export async function digestOf(
  reading: Reading,
  { key, bytes, stamp }: Pick<Listed, 'key' | 'bytes' | 'stamp'>,
): Promise<Digest> {
  const { kind, place, signal } = reading;
  if (kind.read) {
    const content = bytes ?? (await kind.read(place, key, { signal, stamp }));
    return content === undefined ? noDigest : store(reading, key, content);
  }
  const digest = await kind.digest?.(place, key);
  return { digest: digest ?? null, is_stored: 0 };
}

async function store({ blobs }: Reading, key: string, bytes: Uint8Array): Promise<Digest> {
  const { sourceBytesMax } = limits.document;
  if (bytes.length > sourceBytesMax) {
    const message = `${key} has ${bytes.length} bytes, and ${sourceBytesMax} are the most`;
    throw new Failure('source_too_large', message);
  }
  if (!blobs) throw new Failure('internal_error', 'this process stores no content');
  return { digest: await blobs.put(bytes), is_stored: 1 };
}

/** How a document is submitted; undefined: its content has not been read. */
export function submissionOf(
  { kind, place }: Pick<Reading, 'kind' | 'place'>,
  { key, digest, is_stored }: Digest & { readonly key: string },
): NewSource | undefined {
  const source = kind.sourceOf(place, key);
  if (!kind.read) return source;
  if (digest === null || is_stored === 0) return undefined;
  const title = kind.hasPages ? source.source : null;
  const input = { kind: 'blob', title, body: digest } as const;
  return { kind: 'upload', source: source.source, metadata: source.metadata, input };
}
