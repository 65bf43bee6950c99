/** Conditions of a query that only the text of a passage can show: phrases and excluded words. */
import type { Analyzer } from '../../pipeline/word/analysis.ts';
import type { PassageRow } from '../../store/search/passages.ts';
import { markTerms } from '../highlight.ts';
import type { ParsedQuery } from './query.ts';
import { comparable, hasPhrase, wordsOf } from './query-terms.ts';

type Texts = Pick<PassageRow, 'text' | 'title' | 'heading'>;

export function isFitting(
  { phrases, excludedWords, excludedPhrases }: ParsedQuery,
  { analyzer, languages }: { analyzer: Analyzer; languages: readonly string[] },
): (passage: Texts) => boolean {
  const toComparable = (text: string): string => comparable(analyzer, text);
  const [wanted, barred] = [phrases.map(toComparable), excludedPhrases.map(toComparable)];
  const terms = new Set(
    excludedWords.flatMap((text) =>
      wordsOf(analyzer, text).flatMap(({ word, kind }) =>
        languages.flatMap((language) => analyzer.termsOf(word, kind, language)),
      ),
    ),
  );
  return ({ text, title, heading }) => {
    const texts = [text, title ?? '', heading].map(toComparable);
    const has = (phrase: string): boolean => texts.some((one) => hasPhrase(one, phrase));
    if (!wanted.every(has) || barred.some(has)) return false;
    if (terms.size === 0) return true;
    const whole = [title ?? '', heading, text].join('\n');
    return markTerms(whole, { analyzer, languages, terms }).stems.length === 0;
  };
}
