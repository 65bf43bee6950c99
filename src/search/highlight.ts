/** Finds the query words in a passage. */
import type { Analyzer } from '../pipeline/word/analysis.ts';

export interface Highlight {
  readonly start: number;
  readonly end: number;
}

export interface Marked {
  readonly highlights: Highlight[];
  /** The query words that were found, as stems. */
  readonly stems: string[];
}

export interface Marking {
  readonly analyzer: Analyzer;
  /** The languages of the corpus. */
  readonly languages: readonly string[];
  readonly terms: ReadonlySet<string>;
}

/** Offsets into the text, in order, of every word with one of the terms. */
export function markTerms(text: string, { analyzer, languages, terms }: Marking): Marked {
  const highlights: { start: number; end: number }[] = [];
  const found = new Set<string>();
  // Some characters change their length in lower case; offsets are into the text as it is.
  for (const { start, end, kind } of analyzer.splitter.tokensOf(text)) {
    const word = text.slice(start, end).toLowerCase();
    const term = termAmong(languages, (one) => analyzer.termsOf(word, kind, one), terms);
    if (term === undefined) continue;
    found.add(term);
    const last = highlights.at(-1);
    // Pairs of characters overlap.
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else highlights.push({ start, end });
  }
  return { highlights, stems: [...found].sort() };
}

function termAmong(
  languages: readonly string[],
  termsIn: (language: string) => readonly string[],
  terms: ReadonlySet<string>,
): string | undefined {
  for (const language of languages) {
    for (const term of termsIn(language)) if (terms.has(term)) return term;
  }
  return undefined;
}
