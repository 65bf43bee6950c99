/** Finds the query words in a passage. */
import { wordPattern } from '../pipeline/word/terms.ts';

export interface Highlight {
  readonly start: number;
  readonly end: number;
}

export interface Marked {
  readonly highlights: Highlight[];
  /** The query words that were found, as stems. */
  readonly stems: string[];
}

/** Offsets into the text, in order, of every word with one of the stems. */
export function markStems(
  text: string,
  stems: ReadonlySet<string>,
  stemOf: (word: string) => string,
): Marked {
  const highlights: Highlight[] = [];
  const found = new Set<string>();
  for (const match of text.matchAll(wordPattern)) {
    const stem = stemOf(match[0].toLowerCase());
    if (!stems.has(stem)) continue;
    found.add(stem);
    highlights.push({ start: match.index, end: match.index + match[0].length });
  }
  return { highlights, stems: [...found].sort() };
}
