/**
 * Reads the operators of a query: "exact words", -without, title:word. A long query is prose, in
 * which quotation marks and dashes are punctuation, so it has no operators.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

export const querySyntaxes = ['operators', 'plain'] as const;
export type QuerySyntax = (typeof querySyntaxes)[number];

export const queryFields = ['title', 'heading', 'url', 'host', 'language'] as const;
export type QueryField = (typeof queryFields)[number];

export interface ParsedQuery {
  /** The words to search for and to embed, without operators. */
  readonly text: string;
  /** A passage has each of these, word for word. */
  readonly phrases: readonly string[];
  readonly excludedWords: readonly string[];
  readonly excludedPhrases: readonly string[];
  readonly fields: Readonly<Partial<Record<QueryField, string>>>;
}

const part = /(?<=^|\s)(-?)(?:(title|heading|url|host|language):)?(?:["“„]([^"”“]*)["”“]|(\S+))/giu;
/** Not `-x` and not `-5`: options of commands and numbers are ordinary words. */
const excludable = /^\p{L}[\p{L}\p{N}\p{M}'’-]+$/u;
const hasWord = /[\p{L}\p{N}]/u;

export function parseQuery(query: string, syntax: QuerySyntax = 'operators'): ParsedQuery {
  const plain = { text: query, phrases: [], excludedWords: [], excludedPhrases: [], fields: {} };
  const most = limits.search.operatorWordsMax;
  if (syntax === 'plain' || query.split(/\s+/, most + 1).length > most) return plain;
  if (!/["“„:]|(?:^|\s)-/.test(query)) return plain;
  const words: string[] = [];
  const phrases: string[] = [];
  const excludedWords: string[] = [];
  const excludedPhrases: string[] = [];
  const fields: Partial<Record<QueryField, string>> = {};
  for (const [whole, minus, name, phrase, word] of query.matchAll(part)) {
    const value = phrase ?? word ?? '';
    if (!hasWord.test(value)) continue;
    if (name !== undefined) setField(fields, name, { minus, value });
    else if (minus !== '' && phrase !== undefined) excludedPhrases.push(phrase);
    else if (minus !== '' && excludable.test(value)) excludedWords.push(value);
    else {
      words.push(phrase ?? whole);
      if (phrase !== undefined) phrases.push(phrase);
    }
  }
  const isOnlyExcluding = words.length === 0 && Object.keys(fields).length === 0;
  if (isOnlyExcluding) return plain;
  const text = words.length > 0 ? words.join(' ') : Object.values(fields).join(' ');
  return { text, phrases, excludedWords, excludedPhrases, fields };
}

function setField(
  fields: Partial<Record<QueryField, string>>,
  name: string,
  { minus, value }: { minus: string | undefined; value: string },
): void {
  const field = name.toLowerCase() as QueryField;
  if (minus !== '') {
    const message = `-${field}: cannot be excluded: write ${field}:${value}, or -word for a word`;
    throw new Failure('bad_request', message);
  }
  if (fields[field] !== undefined) {
    throw new Failure('bad_request', `${field}: is given twice in the query: keep one of them`);
  }
  fields[field] = value;
}

/** Whether a query has conditions that only the text of a passage can show. */
export function hasConditions(query: ParsedQuery): boolean {
  const { phrases, excludedWords, excludedPhrases } = query;
  return phrases.length + excludedWords.length + excludedPhrases.length > 0;
}
