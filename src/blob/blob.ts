/** Raw bytes by their own hash. What was put is on disk, whole, when `put` resolves. */
export interface BlobStore {
  /**
   * Stores the bytes and returns their key, the SHA-256 in hex. Storing them again changes nothing.
   */
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array>;
}

/** Takes bytes that come one piece after the other, so that nobody has to hold them all. */
export interface StreamedBlobStore extends BlobStore {
  /** What fails on the way leaves nothing behind. */
  putStream(pieces: AsyncIterable<Uint8Array>): Promise<{ key: string; bytes: number }>;
}
