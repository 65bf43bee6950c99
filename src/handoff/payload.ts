/**
 * Bytes between services. Small ones travel with the message; larger ones go through a blob store
 * that both sides reach, and the message carries their key.
 */
import type { BlobStore } from '../blob/blob.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Json } from './request.ts';

export interface Payload {
  readonly value: Json;
  readonly bytes?: Uint8Array | undefined;
}

export interface Payloads {
  pack(payload: Payload): Promise<Payload>;
  unpack(payload: Payload): Promise<Payload>;
}

/** `blobs`: a store that every service reaches; without one, larger bytes are refused. */
export function payloadsBy(blobs?: BlobStore | undefined): Payloads {
  return {
    async pack({ value, bytes }) {
      const { bytesMax } = limits.handoff;
      if (!bytes || bytes.length <= bytesMax) return { value, bytes };
      if (blobs) return { value: { ...value, blob: await blobs.put(bytes) } };
      throw new Failure(
        'source_too_large',
        `${bytes.length} bytes exceed the ${bytesMax} that services send inline: ` +
          'give all of them one blob store with PAWL_BLOB_URL',
      );
    },
    async unpack({ value, bytes }) {
      const { blob, ...rest } = value;
      if (typeof blob !== 'string') return { value, bytes };
      if (blobs) return { value: rest, bytes: await blobs.get(blob) };
      throw new Failure(
        'source_missing',
        'the bytes are in a blob store that this service does not have',
      );
    },
  };
}
