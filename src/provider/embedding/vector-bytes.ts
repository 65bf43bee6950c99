/**
 * The storage format of a vector: two signed bytes per dimension, first the high bytes of all
 * dimensions, then the low ones. The high bytes alone are a coarse vector, which is scanned; both
 * together are exact enough to order the best hits.
 */
/** The largest value whose rounded high byte is still 127: 127 × 256 + 127. */
const wordMax = 32_639;

/** Only the direction is kept: the largest component is scaled to the maximum. */
export function toSignedBytes(vector: ArrayLike<number>): Uint8Array {
  const dimensions = vector.length;
  let largest = 0;
  for (let place = 0; place < dimensions; place++) {
    largest = Math.max(largest, Math.abs(vector[place] as number));
  }
  const scale = largest === 0 ? 0 : wordMax / largest;
  const bytes = new Int8Array(dimensions * 2);
  for (let place = 0; place < dimensions; place++) {
    const word = Math.round((vector[place] as number) * scale);
    const high = (word + 128) >> 8;
    bytes[place] = high;
    bytes[dimensions + place] = word - high * 256;
  }
  return new Uint8Array(bytes.buffer);
}

/** The components as integers. */
export function fromSignedBytes(vector: Uint8Array): Int16Array {
  const bytes = new Int8Array(vector.buffer, vector.byteOffset, vector.length);
  const dimensions = bytes.length >> 1;
  const words = new Int16Array(dimensions);
  for (let place = 0; place < dimensions; place++) {
    words[place] = (bytes[place] as number) * 256 + (bytes[dimensions + place] as number);
  }
  return words;
}
