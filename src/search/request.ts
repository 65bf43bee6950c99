/** What a caller may ask for, checked, with the defaults filled in. */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { PassageFilter } from '../store/passages.ts';

export const searchModes = ['hybrid', 'vector', 'keyword'] as const;
export type SearchMode = (typeof searchModes)[number];

/** All that is given must be true of a passage. Case does not count. */
export interface SearchFilter {
  readonly documentId?: string | undefined;
  /** How the source begins. */
  readonly source?: string | undefined;
  /** What the document's title contains. */
  readonly title?: string | undefined;
  /** What the path of headings contains. */
  readonly heading?: string | undefined;
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

export function checkRequest({ query, mode, topK }: SearchRequest): void {
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
  const { documentId, source, title, heading } = filter ?? {};
  if ([documentId, source, title, heading].every((part) => part === undefined)) return undefined;
  return {
    document_id: documentId ?? null,
    source_pattern: source === undefined ? null : `${escaped(source)}%`,
    title_pattern: title === undefined ? null : `%${escaped(title.toLowerCase())}%`,
    heading_pattern: heading === undefined ? null : `%${escaped(heading.toLowerCase())}%`,
  };
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
