/** Content-addressed storage of raw bytes. When `put` resolves, the whole blob is on disk. */
export interface BlobStore {
  /** Stores the bytes and returns their key, the SHA-256 in hex. Idempotent. */
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array>;
  /** Like `put`, for a stream. A failed stream leaves nothing behind. */
  putStream?(pieces: AsyncIterable<Uint8Array>): Promise<{ key: string; bytes: number }>;
  /** A piece of a blob. */
  getPart?(
    key: string,
    place: { readonly at: number; readonly bytes: number },
  ): Promise<Uint8Array>;
  /** Like `get`, as a stream. */
  getStream?(key: string): Promise<AsyncIterable<Uint8Array>>;
  /** Describes the store; throws if it is not usable. Absent for a local folder. */
  check?(): Promise<string>;
}

/** Stores a stream, with `putStream` if the store has it. */
export async function putParts(
  blobs: BlobStore,
  parts: AsyncIterable<Uint8Array>,
): Promise<string> {
  if (blobs.putStream) return (await blobs.putStream(parts)).key;
  const pieces: Uint8Array[] = [];
  for await (const part of parts) pieces.push(part);
  return blobs.put(Buffer.concat(pieces));
}

export async function getPart(
  blobs: BlobStore,
  key: string,
  place: { readonly at: number; readonly bytes: number },
): Promise<Uint8Array> {
  if (blobs.getPart) return blobs.getPart(key, place);
  return (await blobs.get(key)).subarray(place.at, place.at + place.bytes);
}

/**
 * Reads a blob, as a stream if the store supports it. A missing blob fails before the first piece.
 */
export async function getPieces(
  blobs: BlobStore,
  key: string,
): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]> {
  return blobs.getStream ? blobs.getStream(key) : [await blobs.get(key)];
}

/** Returns the keys that something refers to. */
export type UsedBlobs = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

export interface Sweep {
  /** The partition of the key space to sweep. */
  readonly part: number;
  /** Only blobs stored before this time are checked: a younger one may be about to be used. */
  readonly before: number;
  /** The maximum number of removals, and of keys per usage query. */
  readonly limit: number;
  readonly used: UsedBlobs;
}

export interface SweptBlobs {
  readonly parts: number;
  /** Removes unused blobs of a partition. Returns how many were removed. */
  sweep(sweep: Sweep): Promise<number>;
}

/** A store that takes bytes as a stream, so that nobody has to hold them all in memory. */
export type StreamedBlobStore = BlobStore & Required<Pick<BlobStore, 'putStream'>>;
