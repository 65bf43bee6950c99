/**
 * From text to index terms. The stemmer is that of the document's language; Cyrillic, Greek, Arabic
 * and Devanagari words have the language of their script in any document. A word with accents has
 * two terms if they differ, with the stem taken before and after the accents are removed: so a
 * query without accents finds it.
 */
import { latinLanguages } from './language.ts';
import { spacedWord, type Token, WordSplitter } from './script.ts';
import { type Stem, stemmerOf } from './stemmers.ts';
import { isStopWordOf } from './stop-words.ts';
import { termOf } from './terms.ts';

/** Packed before languages were distinguished: all words by the rules of English. */
export const legacy = 'legacy';
/** Changes when the same text yields other terms. Older generations are packed again. */
export const analysisVersion = 1;
/** For texts whose language is not clear. */
export const fallbackLanguage = 'en';

const languagesOfScript: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\p{Script=Cyrillic}/u, ['ru', 'uk', 'bg', 'sr']],
  [/^\p{Script=Greek}/u, ['el']],
  [/^\p{Script=Arabic}/u, ['ar', 'fa']],
  [/^\p{Script=Devanagari}/u, ['hi']],
  [/^\p{Script=Armenian}/u, ['hy']],
];
const ofLatin = new Set(latinLanguages);
const startsLatin = /^\p{Script=Latin}/u;

const marks = /\p{M}+/gu;
const plain = /^[a-z0-9]+$/;
/** Vowel signs of other scripts are marks too, and part of the word. */
const accentedScripts = ['Latin', 'Greek', 'Cyrillic', 'Arabic', 'Hebrew'];
const accentedLetters = accentedScripts.map((name) => `\\p{Script=${name}}`).join('');
const accented = new RegExp(`^[${accentedLetters}\\p{N}\\p{M}]+$`, 'u');
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  þ: 'th',
};
const letterPattern = /[ßøæœłđðıþ]/g;

/** Without accents, in the compatible form: full-width letters are ordinary ones. */
export function folded(word: string): string {
  if (plain.test(word)) return word;
  const compatible = word.normalize('NFKC').toLowerCase();
  if (!accented.test(compatible)) return compatible;
  const bare = compatible.normalize('NFD').replace(marks, '').normalize('NFC');
  return bare.replace(letterPattern, (letter) => letters[letter] ?? letter);
}

/** The size of a cache. */
const rememberedMax = 50_000;
const noTerms: readonly string[] = [];

/** Analyzes words and remembers their terms, because texts repeat them. */
export class Analyzer {
  readonly splitter = new WordSplitter();
  readonly #stemmers = new Map<string, Stem>();
  readonly #known = new Map<string, Map<string, readonly string[]>>();
  /** Most texts follow one of the same language. */
  #last = { language: '', cache: new Map<string, readonly string[]>() };

  /** The terms of a word in lower case, in a text of this language; none for a stop word. */
  termsOf(word: string, kind: Token['kind'], language: string): readonly string[] {
    const cache = this.#cacheOf(language);
    let terms = cache.get(word);
    if (terms === undefined) {
      terms = this.newTerms(word, kind, language);
      if (cache.size >= rememberedMax) cache.clear();
      cache.set(word, terms);
    }
    return terms;
  }

  #cacheOf(language: string): Map<string, readonly string[]> {
    if (this.#last.language === language) return this.#last.cache;
    const cache = this.#known.get(language) ?? new Map<string, readonly string[]>();
    this.#known.set(language, cache);
    this.#last = { language, cache };
    return cache;
  }

  /** The same, not remembered. */
  newTerms(word: string, kind: Token['kind'], language: string): readonly string[] {
    if (kind !== spacedWord) return [folded(word)];
    if (language === legacy) return isStopWordOf('en', word) ? noTerms : [termOf(word)];
    const own = languageOfWord(word, language);
    if (isStopWordOf(own, word)) return noTerms;
    const stem = this.#stemmerOf(own);
    const bare = folded(word);
    // The same term as in a packed text of an earlier version.
    if (own === 'en') return [stem(bare)];
    const term = folded(stem(word));
    if (bare === word) return [term];
    const other = folded(stem(bare));
    return other === term ? [term] : [term, other];
  }

  #stemmerOf(language: string): Stem {
    const known = this.#stemmers.get(language);
    if (known) return known;
    const stem = stemmerOf(language);
    this.#stemmers.set(language, stem);
    return stem;
  }
}

/** The document's language if it is written in the script of the word, else one of that script. */
function languageOfWord(word: string, language: string): string {
  if (plain.test(word) || startsLatin.test(word)) {
    return ofLatin.has(language) ? language : fallbackLanguage;
  }
  const languages = languagesOfScript.find(([pattern]) => pattern.test(word))?.[1];
  if (!languages) return 'none';
  return languages.includes(language) ? language : (languages[0] ?? 'none');
}
