/** Stores fetched bytes, so that they are the same after a crash. */
import { hash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { FetchRow } from '../../store/crawl/fetches.ts';
import { packLarge } from '../../store/driver/packing.ts';
import { isRecording } from './http/media-type.ts';

export interface Content {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export type StoredContent = Pick<FetchRow, 'blob_key' | 'bytes' | 'media_type' | 'body' | 'packed'>;

/**
 * Content that is small, or small when packed, is stored in the commit itself: as a file it would
 * cost two more flushes. A recording is always a file, since it is passed to a transcriber by its
 * key.
 */
export async function storeContent(
  { bytes, mediaType }: Content,
  blobs: BlobStore,
): Promise<StoredContent> {
  const row = isRecording(mediaType) ? undefined : await rowOf(bytes);
  const kept = row
    ? { blob_key: hash('sha256', bytes), ...row }
    : { blob_key: await blobs.put(bytes), body: null, packed: null };
  return { ...kept, bytes: bytes.length, media_type: mediaType };
}

/** Undefined: too much for a row. */
async function rowOf(
  bytes: Uint8Array,
): Promise<Pick<StoredContent, 'body' | 'packed'> | undefined> {
  const { rowBytesMax } = limits.document;
  const packed = await packLarge(bytes);
  if ((packed ?? bytes).length > rowBytesMax) return undefined;
  return packed ? { body: null, packed } : { body: bytes, packed: null };
}
