/** Raw bytes by their own hash. What was put is on disk, whole, when `put` resolves. */
export interface BlobStore {
  /**
   * Stores the bytes and returns their key, the SHA-256 in hex. Storing them again changes nothing.
   */
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array>;
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

/** Takes bytes that come one piece after the other, so that nobody has to hold them all. */
export interface StreamedBlobStore extends BlobStore {
  /** What fails on the way leaves nothing behind. */
  putStream(pieces: AsyncIterable<Uint8Array>): Promise<{ key: string; bytes: number }>;
}
