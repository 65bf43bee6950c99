/**
 * Fuses several ranked lists. The scores of each list are normalized to 0…1, weighted and added; a
 * passage that is not in a list gets nothing from it. Equal sums are in chunk order.
 *
 * With a range, a score is compared with the best possible one: a list whose best passage has few
 * of its terms counts less than one whose best passage has all. Without a range, the best passage
 * has 1 and the last 0.
 */
import type { PlaceRow, ScoredRow } from '../store/search/passages.ts';

export const listNames = ['keyword', 'vector', 'feedback'] as const;
export type ListName = (typeof listNames)[number];

export interface RankedList {
  readonly name: ListName;
  readonly weight: number;
  /** Best first. */
  readonly rows: readonly ScoredRow[];
  readonly range?: ScoreRange | undefined;
}

export interface ScoreRange {
  /** Scores up to this one mean nothing. */
  readonly lowest: number;
  /** No score is higher. */
  readonly highest: number;
}

/** The contribution of one list to a passage. */
export interface Part {
  readonly list: ListName;
  readonly rank: number;
  readonly score: number;
  readonly scaled: number;
  readonly weight: number;
}

export interface Fused extends PlaceRow {
  readonly score: number;
}

/** Best first. */
export function fuse(lists: readonly RankedList[]): Fused[] {
  const found = new Map<number, { generation_id: number; ordinal: number; score: number }>();
  for (const list of lists) {
    // A list without a weight finds nothing of its own.
    if (list.weight === 0) continue;
    const scaledOf = scaleOf(list);
    for (const { generation_id, ordinal, score } of list.rows) {
      const key = generation_id * ordinalsMax + ordinal;
      const added = list.weight * scaledOf(score);
      const known = found.get(key);
      if (known) known.score += added;
      else found.set(key, { generation_id, ordinal, score: added });
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score || placeKey(a) - placeKey(b));
}

/** The contribution of each list to one passage. */
export function partsOf(lists: readonly RankedList[], place: PlaceRow): Part[] {
  const key = placeKey(place);
  return lists.flatMap((list) => {
    const index = list.rows.findIndex((row) => placeKey(row) === key);
    const row = list.rows[index];
    if (!row) return [];
    const { name, weight } = list;
    const scaled = scaleOf(list)(row.score);
    return [{ list: name, rank: index + 1, score: row.score, scaled, weight }];
  });
}

function scaleOf({ rows, range }: RankedList): (score: number) => number {
  const highest = range?.highest ?? rows[0]?.score ?? 0;
  const size = highest - (range?.lowest ?? rows.at(-1)?.score ?? 0);
  // In a list of one, or of equal scores, all are best.
  if (size === 0) return () => 1;
  return (score) => Math.min(Math.max(1 - (highest - score) / size, 0), 1);
}

/** Combines generation and ordinal into one number; a generation has far fewer ordinals. */
const ordinalsMax = 2 ** 17;

export function placeKey({ generation_id, ordinal }: PlaceRow): number {
  return generation_id * ordinalsMax + ordinal;
}
