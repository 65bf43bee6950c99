/** Words of a query and of a passage, and which of them are stop words. */
import { stemOf } from './porter.ts';

const stopWords = new Set(
  `a about above after again against all also am an and any are aren as at be because been before
  being below between both but by can cannot could couldn did didn do does doesn doing don down
  during each few for from further had hadn has hasn have haven having he her here hers herself him
  himself his how i if in into is isn it its itself just let ll me more most mustn my myself no nor
  not now of off on once only or other ought our ours ourselves out over own re s same shan she
  should shouldn so some such t than that the their theirs them themselves then there these they
  this those through to too under until up upon us ve very was wasn we were weren what when where
  which while who whom why will with won would wouldn you your yours yourself yourselves`.split(
    /\s+/,
  ),
);

export const wordPattern = /[\p{L}\p{N}\p{M}]+/gu;

export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}

/** Letters and digits only: no part of a query is ever read as search syntax. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(wordPattern) ?? [];
}

/** The distinct words to search for: without stop words, unless there are no others. */
export function searchWordsOf(query: string): string[] {
  const words = [...new Set(wordsOf(query))];
  const telling = words.filter((word) => !isStopWord(word));
  return telling.length > 0 ? telling : words;
}

const marks = /\p{M}+/gu;
const plain = /^[a-z0-9]+$/;

/** The stem of a word, without accents: the index term. */
export function termOf(word: string): string {
  return stemOf(plain.test(word) ? word : word.normalize('NFD').replace(marks, ''));
}

/** The size of the cache. */
const rememberedMax = 50_000;

/** Caches stems, because passages repeat their words. */
export function stemmer(): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    let stem = known.get(word);
    if (stem === undefined) {
      stem = termOf(word);
      if (known.size >= rememberedMax) known.clear();
      known.set(word, stem);
    }
    return stem;
  };
}
