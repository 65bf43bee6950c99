/**
 * A known word for one that occurs nowhere: all words at one edit are looked up in the index, which
 * knows its terms only by their hashes.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { type Analyzer, folded } from '../../pipeline/word/analysis.ts';
import { spacedWord } from '../../pipeline/word/script.ts';
import type { WordIndex } from '../word/word-index.ts';
import type { QueryWord, SoughtTerms } from './query-terms.ts';

const alphabets: readonly (readonly [RegExp, string])[] = [
  [/^[a-z0-9]+$/, 'abcdefghijklmnopqrstuvwxyz'],
  [/^\p{Script=Latin}+$/u, 'abcdefghijklmnopqrstuvwxyzäöüßéèêçñáíóúåøæ'],
  [/^\p{Script=Cyrillic}+$/u, 'абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ'],
  [/^\p{Script=Greek}+$/u, 'αβγδεζηθικλμνξοπρσςτυφχψω'],
];

export interface Suggestion {
  /** As in the query. */
  readonly word: string;
  /** At one edit; its term is in the index. */
  readonly instead: string;
  readonly term: string;
}

/** For words of which no term is in the index. */
export function suggest(
  index: WordIndex,
  analyzer: Analyzer,
  { languages, words }: Pick<SoughtTerms, 'languages' | 'words'>,
): Suggestion[] {
  const some = words.filter(canBeMisspelt).slice(0, limits.search.suggestedWordsMax);
  return some.flatMap(({ word }) => {
    let best: (Suggestion & { readonly chunks: number }) | undefined;
    for (const instead of editsOf(word)) {
      for (const language of languages) {
        const [term] = analyzer.newTerms(instead, spacedWord, language);
        const chunks = term === undefined ? 0 : index.chunksWith(term);
        if (term === undefined || chunks <= (best?.chunks ?? 0)) continue;
        best = { word, instead, term, chunks };
      }
    }
    return best ? [{ word, instead: best.instead, term: best.term }] : [];
  });
}

function canBeMisspelt({ word, kind }: QueryWord): boolean {
  const { suggestedLettersMin, suggestedLettersMax } = limits.search;
  const isLong = word.length >= suggestedLettersMin && word.length <= suggestedLettersMax;
  return kind === spacedWord && isLong && !/\p{N}/u.test(word);
}

/** A letter missing, added, replaced, or swapped with the next. */
function* editsOf(word: string): Generator<string> {
  const alphabet = alphabets.find(([pattern]) => pattern.test(word))?.[1] ?? '';
  for (let place = 0; place <= word.length; place++) {
    const [before, after] = [word.slice(0, place), word.slice(place)];
    if (after.length > 1) yield before + after[1] + after[0] + after.slice(2);
    if (after.length > 0) yield before + after.slice(1);
    for (const letter of alphabet) {
      yield before + letter + after;
      if (after.length > 0 && letter !== after[0]) yield before + letter + after.slice(1);
    }
  }
}

/** The word as the text writes it, because an edit may have only the stem in common. */
export function writtenAs(
  text: string,
  term: string,
  { analyzer, languages }: { analyzer: Analyzer; languages: readonly string[] },
): string | undefined {
  const lower = text.toLowerCase();
  for (const { start, end, kind } of analyzer.splitter.tokensOf(lower)) {
    const word = lower.slice(start, end);
    const isSame = languages.some((one) => analyzer.termsOf(word, kind, one).includes(term));
    if (isSame && folded(word) !== '') return word;
  }
  return undefined;
}
