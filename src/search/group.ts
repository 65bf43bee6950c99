/**
 * Spreads the results over documents: each further passage of a document counts less, and of ten
 * results in a row at most three are of one document, as long as others follow.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { Fused } from './fusion.ts';

interface Spreading<T> {
  readonly documentOf: (one: T) => unknown;
  /** How many results are needed. */
  readonly size: number;
}

export function spread<T>(ranked: readonly T[], { documentOf, size }: Spreading<T>): T[] {
  const { groupWindow, groupPassagesMax } = limits.search;
  const result: T[] = [];
  let waiting = ranked;
  while (waiting.length > 0 && result.length < size) {
    const counts = new Map<unknown, number>();
    const chosen: T[] = [];
    const later: T[] = [];
    let place = 0;
    for (; place < waiting.length && chosen.length < groupWindow; place++) {
      const one = waiting[place] as T;
      const document = documentOf(one);
      const count = counts.get(document) ?? 0;
      if (count === groupPassagesMax) later.push(one);
      else {
        chosen.push(one);
        counts.set(document, count + 1);
      }
    }
    // If no others follow, passages of the same documents fill the place.
    const filling = later.splice(0, groupWindow - chosen.length);
    result.push(...chosen, ...filling);
    waiting = [...later, ...waiting.slice(place)];
  }
  return result.slice(0, size);
}

/**
 * The second passage of a document gets a share of its score, the third a share of that, and so on:
 * a passage of another document that is nearly as good comes before it.
 */
export function discountRepeats(ranked: readonly Fused[]): Fused[] {
  const counts = new Map<number, number>();
  const discounted = ranked.map((one) => {
    const count = counts.get(one.generation_id) ?? 0;
    counts.set(one.generation_id, count + 1);
    return count === 0 ? one : { ...one, score: one.score * limits.search.repeatFactor ** count };
  });
  // A stable sort: equal ones keep their order.
  return discounted.sort((a, b) => b.score - a.score);
}
