/**
 * The nearest vectors are found by their high bytes, which may put two of nearly the same distance
 * in the wrong order. So the first of them are compared once more by all their bytes.
 */
import { fromSignedBytes } from '../../provider/vector-bytes.ts';
import type { VectorHit } from './partition.ts';

/** `bytesOf` gives the stored vector, or undefined where it is gone or was kept in rough only. */
export function rescore(
  hits: readonly VectorHit[],
  query: ArrayLike<number>,
  bytesOf: (hit: VectorHit) => Uint8Array | undefined,
): VectorHit[] {
  const queryLength = lengthOf(query);
  const scored = hits.map((hit) => {
    const bytes = bytesOf(hit);
    if (bytes?.length !== query.length * 2) return hit;
    const words = fromSignedBytes(bytes);
    const lengths = queryLength * lengthOf(words);
    return { ...hit, score: lengths === 0 ? 0 : dot(query, words) / lengths };
  });
  return scored.sort(
    (a, b) => b.score - a.score || a.generationId - b.generationId || a.ordinal - b.ordinal,
  );
}

function lengthOf(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let place = 0; place < one.length; place++) {
    sum += (one[place] as number) * (other[place] as number);
  }
  return sum;
}
