/**
 * Several ranked lists become one. Each list's scores are stretched to 0…1, weighted and added; a
 * passage that is not in a list gets nothing from it. Equal sums stand in the order of the chunks.
 */
import type { PlaceRow, ScoredRow } from '../store/passages.ts';

export type ListName = 'keyword' | 'vector' | 'feedback';

export interface RankedList {
  readonly name: ListName;
  readonly weight: number;
  /** Best first. */
  readonly rows: readonly ScoredRow[];
}

/** What one list says of a passage. */
export interface Part {
  readonly list: ListName;
  readonly rank: number;
  readonly score: number;
  readonly scaled: number;
  readonly weight: number;
}

export interface Fused extends PlaceRow {
  readonly score: number;
  readonly parts: readonly Part[];
}

export function fuse(lists: readonly RankedList[]): Fused[] {
  const found = new Map<number, { place: PlaceRow; score: number; parts: Part[] }>();
  for (const { name, weight, rows } of lists) {
    const best = rows[0]?.score ?? 0;
    const range = best - (rows.at(-1)?.score ?? 0);
    rows.forEach((row, index) => {
      // A list of one, or of equals, is all best.
      const scaled = range === 0 ? 1 : 1 - (best - row.score) / range;
      const entry = found.get(placeKey(row)) ?? { place: row, score: 0, parts: [] };
      entry.score += weight * scaled;
      entry.parts.push({ list: name, rank: index + 1, score: row.score, scaled, weight });
      found.set(placeKey(row), entry);
    });
  }
  return [...found.values()]
    .sort((a, b) => b.score - a.score || placeKey(a.place) - placeKey(b.place))
    .map(({ place: { generation_id, ordinal }, score, parts }) => ({
      generation_id,
      ordinal,
      score,
      parts,
    }));
}

/** One number for a generation and an ordinal, of which there are far fewer than this. */
const ordinalsMax = 2 ** 17;

export function placeKey({ generation_id, ordinal }: PlaceRow): number {
  return generation_id * ordinalsMax + ordinal;
}
