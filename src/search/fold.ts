/** Near-duplicate passages are shown once, with the number of folded ones. */
import { wordsOf } from '../pipeline/word/terms.ts';

/** The share of three-word sequences that two passages must have in common. */
const sameShare = 0.8;

export interface Folded<T> {
  readonly first: T;
  /** Near-duplicates with a lower rank. */
  readonly others: T[];
}

interface Passage {
  readonly text: string;
}

export function foldSimilar<T extends Passage>(ranked: readonly T[]): Folded<T>[] {
  const folds: (Folded<T> & { shingles: ReadonlySet<number> })[] = [];
  for (const passage of ranked) {
    const shingles = shinglesOf(passage.text);
    const same = folds.find(
      ({ first, shingles: other }) => first.text === passage.text || areSame(shingles, other),
    );
    if (same) same.others.push(passage);
    else folds.push({ first: passage, others: [], shingles });
  }
  return folds;
}

/** Sequences of three words, each hashed to a number. */
function shinglesOf(text: string): ReadonlySet<number> {
  const words = wordsOf(text).map(hashOf);
  const shingles = new Set<number>();
  for (let index = 0; index < Math.max(words.length - 2, 1); index++) {
    let hash = 0;
    for (let place = index; place < Math.min(index + 3, words.length); place++) {
      hash = Math.imul(hash ^ (words[place] as number), 0x9e3779b1);
    }
    shingles.add(hash);
  }
  return shingles;
}

function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < word.length; place++) {
    hash = Math.imul(hash ^ word.charCodeAt(place), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

/** Jaccard similarity. Sets of very different size are not compared. */
function areSame(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  if (small.size < large.size * sameShare) return false;
  let both = small.size;
  for (const shingle of small) {
    if (large.has(shingle)) continue;
    both -= 1;
    // Ends early: most passages have little in common.
    if (both < sameShare * (small.size + large.size - both)) return false;
  }
  return true;
}
