/** The terms of a query in the languages of a corpus. */
import { type Analyzer, folded, legacy } from '../../pipeline/word/analysis.ts';
import { byStopWords, detectableLanguages, latinLanguages } from '../../pipeline/word/language.ts';
import { spacedWord, type Token } from '../../pipeline/word/script.ts';
import { isStopWordOf } from '../../pipeline/word/stop-words.ts';
import type { Sought } from '../word/word-search.ts';
import type { ParsedQuery } from './query.ts';

export interface QueryWord {
  readonly word: string;
  readonly kind: Token['kind'];
}

/** What to look for in an index of these languages. */
export interface SoughtTerms {
  readonly languages: readonly string[];
  /** Without stop words. */
  readonly words: readonly QueryWord[];
  /** Per word, the terms that it may have. */
  readonly terms: readonly (readonly string[])[];
  readonly required: readonly Sought[];
  readonly excluded: readonly Sought[];
}

const allLanguages = [...detectableLanguages, legacy];

export class QueryTerms {
  readonly #analyzer: Analyzer;
  readonly #query: ParsedQuery;
  readonly words: readonly QueryWord[];

  constructor(analyzer: Analyzer, query: ParsedQuery) {
    this.#analyzer = analyzer;
    this.#query = query;
    this.words = wordsOf(analyzer, query.text);
  }

  /** Words that carry meaning in English: others are answered by the database alone. */
  get isTelling(): boolean {
    return this.words.some(({ word }) => !isStopWordOf('en', word));
  }

  /** The terms in all languages, for an index that holds only what it is asked for. */
  allTerms(): string[] {
    const { phrases, excludedWords } = this.#query;
    const texts = [this.#query.text, ...phrases, ...excludedWords];
    const words = texts.flatMap((text) => wordsOf(this.#analyzer, text));
    return words.flatMap((word) => this.#termsOf(word, allLanguages));
  }

  seek(languages: readonly string[]): SoughtTerms {
    const { phrases, excludedWords } = this.#query;
    const own = this.#languageOf(languages);
    const kept = this.words
      .filter(({ word }) => own === undefined || !isStopWordOf(own, word))
      .map((word) => ({ word, terms: this.#termsOf(word, languages) }))
      .filter(({ terms }) => terms.length > 0);
    const termsOfAll = (texts: readonly string[]): Sought[] =>
      texts.flatMap((text) =>
        wordsOf(this.#analyzer, text)
          .map((word) => this.#termsOf(word, languages))
          .filter((terms) => terms.length > 0),
      );
    return {
      languages,
      words: kept.map(({ word }) => word),
      terms: kept.map(({ terms }) => terms),
      required: termsOfAll(phrases),
      excluded: termsOfAll(excludedWords),
    };
  }

  /** The language of the query, if its small words say so and the corpus has several. */
  #languageOf(languages: readonly string[]): string | undefined {
    const possible = languages.filter((language) => latinLanguages.includes(language));
    if (possible.length < 2) return undefined;
    return byStopWords(
      this.words.map(({ word }) => word),
      possible,
    );
  }

  #termsOf({ word, kind }: QueryWord, languages: readonly string[]): string[] {
    const terms = languages.flatMap((language) => this.#analyzer.termsOf(word, kind, language));
    return [...new Set(terms)];
  }
}

/** The distinct words of a query, in lower case. */
export function wordsOf(analyzer: Analyzer, text: string): QueryWord[] {
  const lower = text.toLowerCase();
  const words = new Map<string, QueryWord>();
  for (const { start, end, kind } of analyzer.splitter.tokensOf(lower, 'query')) {
    const word = lower.slice(start, end);
    if (!words.has(word)) words.set(word, { word, kind });
  }
  return [...words.values()];
}

/** A text in which a phrase can be found by its words alone, without what is between them. */
export function comparable(analyzer: Analyzer, text: string): string {
  const lower = text.toLowerCase();
  let result = ' ';
  for (const { start, end, kind } of runsOf(analyzer, lower)) {
    const word = folded(lower.slice(start, end));
    result += kind === spacedWord ? `${word} ` : `${word}`;
  }
  return `${result} `;
}

/** Characters of one kind, side by side. */
function* runsOf({ splitter }: Analyzer, text: string): Generator<Token> {
  for (let start = 0; start < text.length; ) {
    const kind = splitter.kindOf(text.charCodeAt(start));
    let end = start + 1;
    while (end < text.length && splitter.kindOf(text.charCodeAt(end)) === kind) end += 1;
    if (kind !== 0) yield { start, end, kind: kind as Token['kind'] };
    start = end;
  }
}

/** Whether a text has the phrase. Both are `comparable`. */
export function hasPhrase(text: string, phrase: string): boolean {
  // Scripts without spaces have no word boundaries: their phrase may be part of a run.
  const isSpaced = phrase.endsWith('  ');
  return text.includes(isSpaced ? phrase.slice(0, -1) : phrase.trim());
}
