/** A search as the address of its page says it, and as the API takes it. */
import type { BodyOf } from '../../../src/contract/contract.ts';
import type { SearchSearch } from '../../router.tsx';

export type SearchBody = BodyOf<'POST /search'>;

export interface Asked extends SearchSearch {
  readonly corpora: readonly string[];
  readonly q: string;
}

export const facets = ['type', 'host', 'folder', 'language', 'date'] as const;
export type Facet = (typeof facets)[number];

export function searchBody(asked: Asked): SearchBody {
  const { corpora, mode, near, explain } = asked;
  const [corpus_name = ''] = corpora;
  const filter = filterOf(asked);
  return {
    ...(corpora.length > 1 ? { corpus_names: [...corpora] } : { corpus_name }),
    query: queryOf(asked),
    ...(mode && { mode }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(near && { near }),
    ...(explain && { explain }),
  };
}

/** A part of an address is an operator of the query. There is one, so a folder goes first. */
function queryOf({ q, folder, source }: Asked): string {
  const part = folder === undefined ? source : `${folder}/`;
  return part === undefined ? q.trim() : `${q.trim()} url:"${part.replaceAll('"', '')}"`;
}

function filterOf({ title, host, language, date, where }: Asked) {
  return {
    ...(title && { title }),
    ...(host && { host }),
    ...(language && { language }),
    ...(date && { updated_from: `${date}-01`, updated_before: monthAfter(date) }),
    ...(where && { where }),
  };
}

/** `2026-12` is followed by `2027-01-01`. */
export function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
}

/** The names in the address, separated by commas, which no name has. */
export function corporaOf(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((name) => name !== '');
}
