/**
 * Relevance from 0 to 1, comparable between queries, unlike the score that orders one response.
 *
 *   relevance = 1 − (1 − words)² × (1 − meaning)
 *
 * `words` is BM25 divided by the highest score that any passage could have for the query; words
 * that occur nowhere count as the rarest. `meaning` is the cosine above that of unrelated texts.
 * Either alone can make a passage relevant.
 */
import type { Fused, RankedList } from './fusion.ts';
import { placeKey } from './fusion.ts';

/** Unrelated texts have about this cosine, unless the model says otherwise. */
export const unrelatedCosine = 0.2;
/** For scores of the database, which have no highest value: half for its best passage. */
const databaseShare = 0.5;

export interface Evidence {
  readonly lists: readonly RankedList[];
  /** The highest possible keyword score; undefined if the database has scored. */
  readonly bound: number | undefined;
  /** The cosine of unrelated texts. */
  readonly unrelated: number;
}

export function meaningOf(cosine: number, unrelated: number): number {
  return Math.min(Math.max((cosine - unrelated) / (1 - unrelated), 0), 1);
}

export function relevanceOf({ lists, bound, unrelated }: Evidence): (place: Fused) => number {
  const scoresOf = (name: RankedList['name']) => {
    const rows = lists.find((list) => list.name === name)?.rows ?? [];
    return { best: rows[0]?.score ?? 0, byPlace: new Map(rows.map((r) => [placeKey(r), r.score])) };
  };
  const keyword = scoresOf('keyword');
  const vector = scoresOf('vector');
  const highest = bound ?? keyword.best / databaseShare;
  return (place) => {
    const key = placeKey(place);
    const score = keyword.byPlace.get(key) ?? 0;
    const words = highest > 0 ? Math.min(score / highest, 1) : 0;
    const meaning = meaningOf(vector.byPlace.get(key) ?? 0, unrelated);
    return 1 - (1 - words) ** 2 * (1 - meaning);
  };
}
