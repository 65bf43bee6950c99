/** Words of a query and of a passage, and which of them are stop words. */
import { stemOf } from './porter.ts';
import { isStopWordOf } from './stop-words.ts';

export const wordPattern = /[\p{L}\p{N}\p{M}]+/gu;

export function isStopWord(word: string): boolean {
  return isStopWordOf('en', word);
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
