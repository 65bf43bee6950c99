/**
 * Term feedback: the best hits of the first lists lend their most telling terms to a second query,
 * which finds passages on the same subject in other words (pseudo-relevance feedback).
 */
import { limits } from '../kernel/limits/limits.ts';
import { isStopWord, wordsOf } from '../pipeline/word/terms.ts';

interface Term {
  /** As written in the text; the index derives the stem. */
  readonly word: string;
  /** Summed over the passages that contain it: its frequency, damped by the passage length. */
  weight: number;
}

/** The terms of the passages by stem. */
export function termsOf(
  passages: readonly string[],
  stemOf: (word: string) => string,
): Map<string, Term> {
  const words = passages.map((text) => wordsOf(text));
  const mean = words.reduce((sum, { length }) => sum + length, 0) / Math.max(words.length, 1);
  const terms = new Map<string, Term>();
  for (const passage of words) {
    const damping = 1.2 * (0.25 + (0.75 * passage.length) / Math.max(mean, 1));
    for (const [stem, { word, count }] of countStems(passage, stemOf)) {
      const term = terms.get(stem) ?? { word, weight: 0 };
      term.weight += count / (count + damping);
      terms.set(stem, term);
    }
  }
  return terms;
}

function countStems(words: readonly string[], stemOf: (word: string) => string) {
  const counts = new Map<string, { word: string; count: number }>();
  for (const word of words) {
    if (word.length < 2 || isStopWord(word)) continue;
    const stem = stemOf(word);
    const known = counts.get(stem);
    if (known) known.count += 1;
    else counts.set(stem, { word, count: 1 });
  }
  return counts;
}

/** The number of chunks of a corpus, and of those with a term. */
export interface TermCounts {
  readonly size: number;
  chunksWith(term: string): number;
}

/** Chooses the words to search for: frequent in the passages, rare in the corpus. */
export function chooseTerms(terms: ReadonlyMap<string, Term>, index: TermCounts): string[] {
  const rated = [...terms].map(([stem, { word, weight }]) => {
    const found = Math.max(index.chunksWith(stem), 1);
    const rarity = Math.log1p(Math.max(index.size - found, 0) / (found + 0.5));
    return { stem, word, weight: weight * rarity };
  });
  rated.sort((a, b) => b.weight - a.weight || (a.stem < b.stem ? -1 : 1));
  return rated.slice(0, limits.search.feedbackTerms).map(({ word }) => word);
}
