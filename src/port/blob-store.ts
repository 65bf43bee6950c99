/** A blob store that a user plugs in: fetched bytes under their SHA-256. */
import type { BlobStore, StreamedBlobStore, SweptBlobs } from '../blob/blob.ts';
import { Failure } from '../kernel/failure/failure.ts';
import {
  aFunction,
  checkPort,
  type MemberChecks,
  orAbsent,
  wholeNumber,
} from '../kernel/port-check.ts';
import { callPort } from './port-call.ts';

export interface BlobStorePort extends Omit<BlobStore, 'get' | 'getPart' | 'getStream'> {
  /** Undefined if it has no such blob. */
  get(key: string): Promise<Uint8Array | undefined>;
  getPart?(
    key: string,
    place: { readonly at: number; readonly bytes: number },
  ): Promise<Uint8Array | undefined>;
  getStream?(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** With `sweep`: into how many partitions the keys are divided. */
  readonly parts?: number | undefined;
  /** Without it, bytes that nothing uses any more are never removed. */
  sweep?: SweptBlobs['sweep'] | undefined;
  close?(): Promise<void>;
}

const checks: MemberChecks<BlobStorePort> = {
  put: aFunction,
  get: aFunction,
  putStream: orAbsent(aFunction),
  getPart: orAbsent(aFunction),
  getStream: orAbsent(aFunction),
  check: orAbsent(aFunction),
  parts: orAbsent(wholeNumber(1, 65_536)),
  sweep: orAbsent(aFunction),
  close: orAbsent(aFunction),
};

export function checkBlobStore(value: unknown): BlobStorePort {
  const store = checkPort<BlobStorePort>(value, checks, {
    from: 'open({ blobs })',
    what: 'blob store',
  });
  if ((store.parts === undefined) === (store.sweep === undefined)) return store;
  const message = 'open({ blobs }) is no blob store: parts and sweep come together, or not at all';
  throw new Failure('usage_error', message);
}

export function pluggedBlobs(
  port: BlobStorePort,
): StreamedBlobStore & SweptBlobs & { close(): Promise<void> } {
  const call = <T>(method: string, run: () => Promise<T> | T): Promise<T> =>
    callPort(`${method} of the blob store`, run);
  const found = async <T>(key: string, method: string, run: () => Promise<T | undefined>) => {
    const value = await call(method, run);
    if (value !== undefined) return value;
    throw new Failure('source_missing', `the blob store has no blob ${key}`);
  };
  const { getPart, getStream, check, sweep } = port;
  return {
    put: (bytes) => call('put', () => port.put(bytes)),
    get: (key) => found(key, 'get', () => port.get(key)),
    putStream: (pieces) => call('putStream', () => putPieces(port, pieces)),
    ...(getPart && {
      getPart: (key, place) => found(key, 'getPart', () => getPart.call(port, key, place)),
    }),
    ...(getStream && {
      getStream: (key) => found(key, 'getStream', () => getStream.call(port, key)),
    }),
    ...(check && { check: () => call('check', () => check.call(port)) }),
    parts: port.parts ?? 1,
    sweep: (of) => call('sweep', async () => sweep?.call(port, of) ?? 0),
    close: async () => port.close?.(),
  };
}

/** A store that takes no streams gets the bytes at once. */
async function putPieces(port: BlobStorePort, pieces: AsyncIterable<Uint8Array>) {
  if (port.putStream) return port.putStream(pieces);
  const held: Uint8Array[] = [];
  for await (const piece of pieces) held.push(piece);
  const bytes = Buffer.concat(held);
  return { key: await port.put(bytes), bytes: bytes.length };
}
