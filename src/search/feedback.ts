/**
 * Term feedback: the best hits of the first lists lend their most telling terms to a second query,
 * which finds passages on the same subject in other words (pseudo-relevance feedback).
 */
import { limits } from '../kernel/limits/limits.ts';
import { type Analyzer, fallbackLanguage } from '../pipeline/word/analysis.ts';

interface Term {
  /** As written in the text. */
  readonly word: string;
  /**
   * Summed over the passages that contain it: its frequency, damped by the length and the rank of
   * the passage.
   */
  weight: number;
}

/** A passage that lends its terms. */
export interface Lender {
  readonly text: string;
  /** The language in which its words were analyzed. */
  readonly analysis: string | null;
}

/** The words of the passages, best first, by their term. The first passages count most. */
export function termsOf(passages: readonly Lender[], analyzer: Analyzer): Map<string, Term> {
  const counted = passages.map((passage, rank) => {
    return {
      ...countTerms(passage, analyzer),
      trust: Math.exp(-rank / limits.search.feedbackFading),
    };
  });
  const trusted = counted.reduce((sum, { trust }) => sum + trust, 0);
  const mean = counted.reduce((sum, { length, trust }) => sum + length * trust, 0) / trusted;
  const terms = new Map<string, Term>();
  for (const { counts, length, trust } of counted) {
    const damping = 1.2 * (0.25 + (0.75 * length) / Math.max(mean, 1));
    for (const [stem, { word, count }] of counts) {
      const term = terms.get(stem) ?? { word, weight: 0 };
      term.weight += (trust * count) / (count + damping);
      terms.set(stem, term);
    }
  }
  return terms;
}

function countTerms({ text, analysis }: Lender, analyzer: Analyzer) {
  const language = analysis ?? fallbackLanguage;
  const counts = new Map<string, { word: string; count: number }>();
  const lower = text.toLowerCase();
  let length = 0;
  for (const { start, end, kind } of analyzer.splitter.tokensOf(lower)) {
    length += 1;
    if (end - start < 2) continue;
    const word = lower.slice(start, end);
    const [term] = analyzer.termsOf(word, kind, language);
    if (term === undefined) continue;
    const known = counts.get(term);
    if (known) known.count += 1;
    else counts.set(term, { word, count: 1 });
  }
  return { counts, length };
}

/** The number of chunks of a corpus, and of those with a term. */
export interface TermCounts {
  readonly size: number;
  chunksWith(term: string): number;
}

export interface Chosen {
  readonly stem: string;
  readonly word: string;
  /** 1 for the most telling one. */
  readonly weight: number;
}

/** Chooses the words to search for: frequent in the passages, rare in the corpus. */
export function chooseTerms(terms: ReadonlyMap<string, Term>, index: TermCounts): Chosen[] {
  const rated = [...terms].map(([stem, { word, weight }]) => {
    const found = Math.max(index.chunksWith(stem), 1);
    const rarity = Math.log1p(Math.max(index.size - found, 0) / (found + 0.5));
    return { stem, word, weight: weight * rarity };
  });
  rated.sort((a, b) => b.weight - a.weight || (a.stem < b.stem ? -1 : 1));
  const highest = rated[0]?.weight || 1;
  return rated
    .slice(0, limits.search.feedbackTerms)
    .map(({ stem, word, weight }) => ({ stem, word, weight: weight / highest }));
}
