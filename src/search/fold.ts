/** Passages that say the same are shown once, with the number of those folded into it. */
import { wordsOf } from './terms.ts';

/** The share of three-word sequences that two passages must have in common. */
const sameShare = 0.8;

export interface Folded<T> {
  readonly first: T;
  /** Worse ranked, and nearly the same. */
  readonly others: T[];
}

interface Passage {
  readonly key: string;
  readonly text: string;
}

export function foldSimilar<T extends Passage>(ranked: readonly T[]): Folded<T>[] {
  const folds: (Folded<T> & { shingles: ReadonlySet<string> })[] = [];
  for (const passage of ranked) {
    const shingles = shinglesOf(passage.text);
    const same = folds.find(
      ({ first, shingles: other }) => first.key === passage.key || areSame(shingles, other),
    );
    if (same) same.others.push(passage);
    else folds.push({ first: passage, others: [], shingles });
  }
  return folds;
}

function shinglesOf(text: string): ReadonlySet<string> {
  const words = wordsOf(text);
  const shingles = new Set<string>();
  for (let index = 0; index < Math.max(words.length - 2, 1); index++) {
    shingles.add(words.slice(index, index + 3).join(' '));
  }
  return shingles;
}

/** Jaccard's share. What differs too much in size is not compared. */
function areSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  if (small.size < large.size * sameShare) return false;
  let both = 0;
  for (const shingle of small) if (large.has(shingle)) both += 1;
  return both >= sameShare * (small.size + large.size - both);
}
