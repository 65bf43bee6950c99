/**
 * The scan uses only the high bytes, which may misorder vectors of nearly the same distance. So the
 * first hits are compared again by all their bytes.
 */
import { fromSignedBytes } from '../../provider/embedding/vector-bytes.ts';
import { getVectors } from '../../store/document/contents.ts';
import type { Reader } from '../../store/driver/database.ts';
import { placeKey } from '../fusion.ts';
import type { VectorHit } from './partition.ts';

export interface Rescoring {
  readonly model: string;
  readonly vector: ArrayLike<number>;
  /** How many of the first hits are reordered by their full vectors. */
  readonly rescored: number;
}

/** Reorders the first hits by their stored vectors. */
export async function rescoreStored(
  reader: Reader,
  { model, vector, rescored }: Rescoring,
  hits: readonly VectorHit[],
): Promise<VectorHit[]> {
  const first = hits.slice(0, rescored);
  const places = first.map(({ generationId, ordinal }) => [generationId, ordinal] as const);
  const rows = await getVectors(reader, { model, places });
  const bytes = new Map(rows.map((row) => [placeKey(row), row.vector]));
  const bytesOf = ({ generationId, ordinal }: VectorHit) =>
    bytes.get(placeKey({ generation_id: generationId, ordinal }));
  return [...rescore(first, vector, bytesOf), ...hits.slice(first.length)];
}

/** `bytesOf` returns the stored vector; undefined if it is gone or has only high bytes. */
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
