/** Raw bytes by their own hash. What was put is on disk, whole, when `put` resolves. */
export interface BlobStore {
  /**
   * Stores the bytes and returns their key, the SHA-256 in hex. Storing them again changes nothing.
   */
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array>;
  /** The same for bytes that come one piece after the other; what fails leaves nothing behind. */
  putStream?(pieces: AsyncIterable<Uint8Array>): Promise<{ key: string; bytes: number }>;
  /** A piece of a blob. */
  getPart?(
    key: string,
    place: { readonly at: number; readonly bytes: number },
  ): Promise<Uint8Array>;
  /** The same bytes as `get`, one piece after the other. */
  getStream?(key: string): Promise<AsyncIterable<Uint8Array>>;
  /** Says what it is; throws if it cannot be used. Absent for a folder of this machine. */
  check?(): Promise<string>;
}

/** Stores what comes in parts, by the store's own way if it has one. */
export async function putParts(
  blobs: BlobStore,
  parts: AsyncIterable<Uint8Array>,
): Promise<string> {
  if (blobs.putStream) return (await blobs.putStream(parts)).key;
  const held: Uint8Array[] = [];
  for await (const part of parts) held.push(part);
  return blobs.put(Buffer.concat(held));
}

export async function getPart(
  blobs: BlobStore,
  key: string,
  place: { readonly at: number; readonly bytes: number },
): Promise<Uint8Array> {
  if (blobs.getPart) return blobs.getPart(key, place);
  return (await blobs.get(key)).subarray(place.at, place.at + place.bytes);
}

/** What is stored, in pieces if the store has a way to; what is gone is known before the first. */
export async function getPieces(
  blobs: BlobStore,
  key: string,
): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]> {
  return blobs.getStream ? blobs.getStream(key) : [await blobs.get(key)];
}

/** Which of these keys something refers to. */
export type UsedBlobs = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

export interface Sweep {
  /** One of the parts that the blobs fall into. */
  readonly part: number;
  /** Only what was put before this time is looked at: a younger one may be about to be used. */
  readonly before: number;
  /** After so many removals it ends; what is asked about at once is no more either. */
  readonly limit: number;
  readonly used: UsedBlobs;
}

export interface SweptBlobs {
  readonly parts: number;
  /** Removes blobs of a part that nobody uses. Returns how many went. */
  sweep(sweep: Sweep): Promise<number>;
}

/** Takes bytes that nobody has to hold all at once. */
export type StreamedBlobStore = BlobStore & Required<Pick<BlobStore, 'putStream'>>;
