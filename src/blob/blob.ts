/** Raw bytes by their own hash. What was put is on disk, whole, when `put` resolves. */
export interface BlobStore {
  /**
   * Stores the bytes and returns their key, the SHA-256 in hex. Storing them again changes nothing.
   */
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array>;
  /** The same for bytes that come in parts and are too many to hold. */
  putParts?(parts: AsyncIterable<Uint8Array>): Promise<string>;
  /** A piece of a blob. */
  getPart?(
    key: string,
    place: { readonly at: number; readonly bytes: number },
  ): Promise<Uint8Array>;
}

/** Stores what comes in parts, by the store's own way if it has one. */
export async function putParts(
  blobs: BlobStore,
  parts: AsyncIterable<Uint8Array>,
): Promise<string> {
  if (blobs.putParts) return blobs.putParts(parts);
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
