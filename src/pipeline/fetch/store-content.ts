/** Stores fetched bytes, so that they are the same after a crash. */
import { hash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { FetchRow } from '../../store/crawl/fetches.ts';
import { isRecording } from './http/media-type.ts';

export interface Content {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export type StoredContent = Pick<FetchRow, 'blob_key' | 'bytes' | 'media_type' | 'body'>;

/**
 * Small content is stored in the commit itself: as a file it would cost two more flushes. A
 * recording is always a file, since it is passed to a transcriber by its key.
 */
export async function storeContent(
  { bytes, mediaType }: Content,
  blobs: BlobStore,
): Promise<StoredContent> {
  const isFew = bytes.length <= limits.document.rowBytesMax && !isRecording(mediaType);
  const kept = isFew
    ? { blob_key: hash('sha256', bytes), body: bytes }
    : { blob_key: await blobs.put(bytes), body: null };
  return { ...kept, bytes: bytes.length, media_type: mediaType };
}
