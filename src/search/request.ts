/** A search request, validated, with defaults. */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { readWhere, type WhereInput } from '../kernel/metadata/read-where.ts';
import { closestOf } from '../kernel/text/closest-name.ts';
import type { PassageFilter } from '../store/search/passages.ts';

export const searchModes = ['hybrid', 'vector', 'keyword'] as const;
export type SearchMode = (typeof searchModes)[number];

/** All given conditions must hold. Case matters only in the source. */
export interface SearchFilter {
  readonly documentId?: string | undefined;
  /** A prefix of the source. */
  readonly source?: string | undefined;
  /** The host of the source, with its port if it is not the default. */
  readonly host?: string | undefined;
  /** A part of the document's title. */
  readonly title?: string | undefined;
  /** A part of the heading path. */
  readonly heading?: string | undefined;
  /** `en` also matches `en-GB`. */
  readonly language?: string | undefined;
  /** When the document last changed: `updatedFrom` inclusive, `updatedBefore` exclusive. */
  readonly updatedFrom?: string | undefined;
  readonly updatedBefore?: string | undefined;
  /**
   * A condition on metadata, as text (`team = "ops" and year >= 2025`) or as JSON
   * (`{ team: 'ops', year: { $gte: 2025 } }`).
   */
  readonly where?: WhereInput | undefined;
}

export interface SearchRequest {
  readonly caller: string;
  readonly corpus: string;
  readonly query: string;
  readonly topK?: number | undefined;
  readonly mode?: SearchMode | undefined;
  readonly filter?: SearchFilter | undefined;
  readonly explain?: boolean | undefined;
}

const filterNames: Readonly<Record<keyof SearchFilter, true>> = {
  documentId: true,
  source: true,
  host: true,
  title: true,
  heading: true,
  language: true,
  updatedFrom: true,
  updatedBefore: true,
  where: true,
};

/** A misspelt name must not lead to a search without the filter. */
function checkFilter(filter: SearchFilter = {}): void {
  const names = Object.keys(filterNames);
  for (const name of Object.keys(filter)) {
    if (names.includes(name)) continue;
    const message = `there is no filter ${JSON.stringify(name)}`;
    throw new Failure('bad_request', `${message}; the closest one is ${closestOf(name, names)}`);
  }
}

export function checkRequest({ corpus, query, mode, topK, filter }: SearchRequest): void {
  checkFilter(filter);
  const texts = [corpus, query, ...Object.values(filter ?? {})];
  if (texts.some((text) => typeof text === 'string' && text.includes('\0'))) {
    const message = 'a search has a NUL character (U+0000) in its query or its filter: remove it';
    throw new Failure('bad_request', message);
  }
  if (query.length > limits.search.queryCharactersMax) {
    const bound = limits.search.queryCharactersMax;
    throw new Failure('bad_request', `a query has up to ${bound} characters`);
  }
  if (mode !== undefined && !searchModes.includes(mode)) {
    throw new Failure('bad_request', `a mode is one of ${searchModes.join(', ')}, not ${mode}`);
  }
  if (topK !== undefined && !(Number.isInteger(topK) && topK > 0)) {
    throw new Failure('bad_request', `top_k is a whole number above 0, not ${topK}`);
  }
}

export function topKOf({ topK }: SearchRequest): number {
  return Math.min(topK ?? limits.search.topKDefault, limits.search.topKMax);
}

export function toPassageFilter(filter: SearchFilter | undefined): PassageFilter | undefined {
  if (Object.values(filter ?? {}).every((part) => part === undefined)) return undefined;
  const { documentId, source, host, title, heading, language } = filter ?? {};
  const hostPattern = host === undefined ? null : `://${escaped(host.toLowerCase())}/%`;
  return {
    document_id: documentId ?? null,
    source_prefix: source ?? null,
    title_pattern: title === undefined ? null : `%${escaped(title.toLowerCase())}%`,
    heading_pattern: heading === undefined ? null : `%${escaped(heading.toLowerCase())}%`,
    plain_pattern: hostPattern && `http${hostPattern}`,
    secure_pattern: hostPattern && `https${hostPattern}`,
    language: language?.toLowerCase() ?? null,
    dialect_pattern: language === undefined ? null : `${escaped(language.toLowerCase())}-%`,
    updated_from: timeOf('updated_from', filter?.updatedFrom),
    updated_before: timeOf('updated_before', filter?.updatedBefore),
    where: filter?.where === undefined ? null : JSON.stringify(readWhere(filter.where)),
  };
}

function timeOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new Failure('bad_request', `${name} is a time like 2026-01-31T12:00:00Z, not ${text}`);
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
