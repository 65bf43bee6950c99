/**
 * Chunks as search finds and shows them. Every statement joins on the current generation, so its
 * result is one consistent snapshot of current content.
 */
import { readMetadata } from '../../kernel/metadata/metadata.ts';
import { matches, type Where } from '../../kernel/metadata/where.ts';
import type { Reader } from '../driver/database.ts';
import type { Dialect } from '../driver/dialect.ts';
import { sql } from '../driver/statement.ts';

/**
 * Narrows a search. Patterns are `LIKE` patterns in lower case, with `\` as the escape character.
 */
export interface PassageFilter {
  readonly document_id: string | null;
  /** Unchanged: the path of an address is case-sensitive. */
  readonly source_prefix: string | null;
  /** A part of the source. */
  readonly source_pattern: string | null;
  readonly title_pattern: string | null;
  readonly heading_pattern: string | null;
  /** The prefix of a source on the host, for each of the two schemes. */
  readonly plain_pattern: string | null;
  readonly secure_pattern: string | null;
  readonly language: string | null;
  readonly dialect_pattern: string | null;
  readonly updated_from: number | null;
  readonly updated_before: number | null;
  /** JSON of `Where`, a condition on metadata. Not a part of the statements: see `isMatch`. */
  readonly where: string | null;
}

export interface PlaceRow {
  readonly generation_id: number;
  readonly ordinal: number;
}

export interface ScoredRow extends PlaceRow {
  readonly score: number;
}

export interface PassageRow extends PlaceRow {
  readonly key: string;
  readonly text: string;
  readonly heading: string;
  readonly page: number | null;
  readonly document_id: string;
  readonly source: string;
  readonly title: string | null;
  /** JSON of `Metadata`; null if there is none. */
  readonly metadata: string | null;
  /** The language in which the words were analyzed; null: as English, in an earlier version. */
  readonly analysis: string | null;
}

const isCurrent = `documents.id = chunks.document_id
    AND documents.generation_id = chunks.generation_id`;
const inCorpus = 'documents.corpus = :corpus AND documents.caller = :caller';

/** Empty without a filter, so that no condition is evaluated per row. */
const filteredDocuments = `
    AND (CAST(:document_id AS TEXT) IS NULL OR documents.id = :document_id)
    AND (CAST(:source_prefix AS TEXT) IS NULL OR
      substr(documents.source, 1, length(:source_prefix)) = :source_prefix)
    AND (CAST(:source_pattern AS TEXT) IS NULL
      OR {lower}(documents.source) LIKE :source_pattern ESCAPE '\\')
    AND (CAST(:title_pattern AS TEXT) IS NULL
      OR {lower}(documents.title) LIKE :title_pattern ESCAPE '\\')
    AND (CAST(:plain_pattern AS TEXT) IS NULL
      OR {lower}(documents.source) LIKE :plain_pattern ESCAPE '\\'
      OR {lower}(documents.source) LIKE :secure_pattern ESCAPE '\\')
    AND (CAST(:language AS TEXT) IS NULL OR {lower}(documents.language) = :language
      OR {lower}(documents.language) LIKE :dialect_pattern ESCAPE '\\')
    AND (CAST(:updated_from AS {int}) IS NULL OR documents.updated_at >= :updated_from)
    AND (CAST(:updated_before AS {int}) IS NULL OR documents.updated_at < :updated_before)`;
const filtered = `${filteredDocuments}
    AND (CAST(:heading_pattern AS TEXT) IS NULL
      OR {lower}(chunks.heading) LIKE :heading_pattern ESCAPE '\\')`;

const keyword = {
  sqlite: (filter: string) => sql<ScoredRow>`
    SELECT chunks.generation_id, chunks.ordinal, -bm25(chunk_search, 4.0, 2.0, 1.0) AS score
    FROM chunk_search JOIN chunks ON chunks.id = chunk_search.rowid JOIN documents ON ${isCurrent}
    WHERE ${inCorpus} AND chunk_search MATCH :words ${filter}
    ORDER BY score DESC, chunks.generation_id, chunks.ordinal LIMIT :limit`,
  postgres: (filter: string) => sql<ScoredRow>`
    SELECT chunks.generation_id, chunks.ordinal,
      ts_rank_cd(chunk_search.words, to_tsquery('english', :words), 1) AS score
    FROM chunk_search JOIN chunks ON chunks.id = chunk_search.chunk_id
    JOIN documents ON ${isCurrent}
    WHERE ${inCorpus} AND chunk_search.words @@ to_tsquery('english', :words) ${filter}
    ORDER BY score DESC, chunks.generation_id, chunks.ordinal LIMIT :limit`,
};
const among = `${filtered} AND documents.id {amongKeys}`;
const matching = {
  sqlite: {
    all: keyword.sqlite(''),
    filtered: keyword.sqlite(filtered),
    among: keyword.sqlite(among),
  },
  postgres: {
    all: keyword.postgres(''),
    filtered: keyword.postgres(filtered),
    among: keyword.postgres(among),
  },
};

export interface Matching {
  readonly caller: string;
  readonly corpus: string;
  readonly words: readonly string[];
  readonly filter: PassageFilter | undefined;
  /** The documents that match the metadata condition of the filter. */
  readonly documentIds?: readonly string[] | undefined;
  readonly limit: number;
}

/** The passages with any of the words, best first. The words are letters and digits only. */
export function listMatching(
  reader: Reader & { readonly dialect: Dialect },
  { caller, corpus, words, filter, documentIds, limit }: Matching,
): Promise<ScoredRow[]> {
  const { name } = reader.dialect;
  const expression =
    name === 'sqlite' ? words.map((word) => `"${word}"`).join(' OR ') : words.join(' | ');
  const at = { caller, corpus, limit, ...filter, words: expression };
  if (filter?.where == null) return reader.run(matching[name][filter ? 'filtered' : 'all'], at);
  return reader.run(matching[name].among, { ...at, keys: JSON.stringify(documentIds ?? []) });
}

export interface AllowedDocument {
  readonly document_id: string;
  readonly generation_id: number;
  readonly metadata: string | null;
}

export interface AllowedFilter {
  readonly caller: string;
  readonly corpus: string;
  readonly filter: PassageFilter;
  readonly limit: number;
}

const allowedDocuments = sql<AllowedDocument>`
  SELECT documents.id AS document_id, documents.generation_id, documents.metadata FROM documents
  WHERE ${inCorpus} AND documents.id > :after ${filteredDocuments}
  ORDER BY documents.id LIMIT :limit`;
const allowedAmong = sql<AllowedDocument>`
  SELECT documents.id AS document_id, documents.generation_id, documents.metadata FROM documents
  WHERE documents.id {amongKeys} AND ${inCorpus} ${filteredDocuments}`;

/** A page of the documents that match a filter, ignoring its headings and its metadata. */
export function listAllowedDocuments(
  reader: Reader,
  { caller, corpus, filter, after, limit }: AllowedFilter & { readonly after: string },
): Promise<AllowedDocument[]> {
  return reader.run(allowedDocuments, { caller, corpus, ...filter, after, limit });
}

/** The same for those of some documents. Order is not guaranteed. */
export function getAllowedDocuments(
  reader: Reader,
  { caller, corpus, filter, ids }: Omit<AllowedFilter, 'limit'> & { ids: readonly string[] },
): Promise<AllowedDocument[]> {
  return reader.run(allowedAmong, { caller, corpus, ...filter, keys: JSON.stringify(ids) });
}

/** Whether the metadata of a row matches the condition of the filter. */
export function isMatch(filter: PassageFilter): (row: { metadata: string | null }) => boolean {
  if (filter.where === null) return () => true;
  const where: Where = JSON.parse(filter.where);
  return ({ metadata }) => matches(where, readMetadata(metadata));
}

const lastOfPage = sql<{ id: string | null }>`
  SELECT MAX(id) AS id FROM (SELECT id FROM documents WHERE ${inCorpus} AND id > :after
    ORDER BY id LIMIT :limit) AS page`;

/** The last id of the next page of documents; undefined if there is none. */
export async function lastDocumentOf(
  reader: Reader,
  page: { caller: string; corpus: string; after: string; limit: number },
): Promise<string | undefined> {
  return (await reader.run(lastOfPage, page))[0]?.id ?? undefined;
}

const allowedChunks = sql<AllowedDocument & PlaceRow>`
  SELECT documents.id AS document_id, documents.metadata, chunks.generation_id, chunks.ordinal
  FROM documents JOIN chunks ON ${isCurrent}
  WHERE ${inCorpus} AND documents.id > :after AND documents.id <= :last ${filtered} LIMIT :limit`;

/** The chunks of some documents that match a filter, ignoring its metadata. */
export function listAllowedChunks(
  reader: Reader,
  of: AllowedFilter & { readonly after: string; readonly last: string },
): Promise<(AllowedDocument & PlaceRow)[]> {
  const { filter, ...page } = of;
  return reader.run(allowedChunks, { ...filter, ...page });
}

const passagesOf = (filter: string) => sql<PassageRow>`
  SELECT chunks.generation_id, chunks.ordinal, chunks.key, chunks.text, chunks.heading,
    chunks.page, chunks.document_id, documents.source, documents.title,
    documents.metadata, generation_analysis.language AS analysis
  FROM {places} CROSS JOIN chunks CROSS JOIN documents
  LEFT JOIN generation_analysis ON generation_analysis.generation_id = chunks.generation_id
  WHERE chunks.generation_id = place.generation_id AND chunks.ordinal = place.ordinal
    AND ${isCurrent} AND ${inCorpus} ${filter}`;
const passages = { all: passagesOf(''), filtered: passagesOf(filtered) };

export interface Passages {
  readonly caller: string;
  readonly corpus: string;
  readonly places: readonly PlaceRow[];
  readonly filter?: PassageFilter | undefined;
}

/** The passages that are still current and match the filter. Order is not guaranteed. */
export async function getPassages(
  reader: Reader,
  { caller, corpus, places, filter }: Passages,
): Promise<PassageRow[]> {
  const pairs = places.map(({ generation_id, ordinal }) => [generation_id, ordinal]);
  const statement = passages[filter ? 'filtered' : 'all'];
  const at = { caller, corpus, ...filter, places: JSON.stringify(pairs) };
  const rows = await reader.run(statement, at);
  return filter ? rows.filter(isMatch(filter)) : rows;
}

const chunksOfCorpus = sql<{ chunks: number | null }>`
  SELECT CAST(SUM(chunk_count) AS {int}) AS chunks FROM documents WHERE ${inCorpus}`;

/** How many chunks are current in a corpus. */
export async function countChunks(
  reader: Reader,
  of: { caller: string; corpus: string },
): Promise<number> {
  return (await reader.run(chunksOfCorpus, of))[0]?.chunks ?? 0;
}
