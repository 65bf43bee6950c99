/**
 * Bytes between services. Up to a bound they travel with the message; beyond it they go by a blob
 * store that both sides reach, and the message carries their key.
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

/** `blobs`: a store that every service reaches; without one, what is too large is refused. */
export function payloadsBy(blobs?: BlobStore | undefined): Payloads {
  return {
    async pack({ value, bytes }) {
      const { bytesMax } = limits.handoff;
      if (!bytes || bytes.length <= bytesMax) return { value, bytes };
      if (blobs) return { value: { ...value, blob: await blobs.put(bytes) } };
      throw new Failure(
        'source_too_large',
        `${bytes.length} bytes are more than the ${bytesMax} that services hand to each other: ` +
          'give all of them one blob store with PAWL_BLOB_URL',
      );
    },
    async unpack({ value, bytes }) {
      const { blob, ...rest } = value;
      if (typeof blob !== 'string') return { value, bytes };
      if (blobs) return { value: rest, bytes: await blobs.get(blob) };
      throw new Failure('source_missing', 'bytes lie in a blob store that this service has not');
    },
  };
}
