/**
 * The current content of a corpus, and its changes since an event: for readers that keep their own
 * copy. Every change of the current content has an event in the same commit.
 */
import type { Reader } from '../driver/database.ts';
import type { Dialect } from '../driver/dialect.ts';
import { all } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import type { ChunkRow } from './chunks.ts';
import type { DocumentRow } from './documents.ts';

/** The event kinds that change which chunks are current, or what a filter finds. */
export const contentKinds = `(
  'generation_flipped', 'document_deleted', 'corpus_deleted', 'metadata_changed')`;

export interface Change {
  readonly seq: number;
  /** Undefined: the whole corpus changed. */
  readonly documentId: string | undefined;
}

const changes = sql<{ seq: number; detail: string | null }>`
  SELECT seq, detail FROM events WHERE seq > :after AND kind IN ${contentKinds}
  ORDER BY seq LIMIT :limit`;

/** What has changed after an event, in any corpus. */
export async function listChanges(
  reader: Reader,
  page: { after: number; limit: number },
): Promise<Change[]> {
  const rows = await reader.run(changes, page);
  return rows.map(({ seq, detail }) => ({
    seq,
    documentId: detail === null ? undefined : JSON.parse(detail).document_id,
  }));
}

export type CurrentRow = Pick<DocumentRow, 'id' | 'generation_id' | 'chunk_count' | 'title'>;

const columns = 'id, generation_id, chunk_count, title';
const amongDocuments = sql<CurrentRow>`
  SELECT ${columns} FROM documents
  WHERE id {amongKeys} AND corpus = :corpus AND caller = :caller ORDER BY id`;

export const listCurrent = all<
  { caller: string; corpus: string; after: string; limit: number },
  CurrentRow
>`
  SELECT ${columns} FROM documents WHERE corpus = :corpus AND caller = :caller AND id > :after
  ORDER BY id LIMIT :limit`;

/** The subset of the documents that is in the corpus. */
export function getCurrent(
  reader: Reader,
  filter: { caller: string; corpus: string; ids: readonly string[] },
): Promise<CurrentRow[]> {
  const { caller, corpus, ids } = filter;
  return reader.run(amongDocuments, { caller, corpus, keys: JSON.stringify(ids) });
}

export interface GenerationVectorRow {
  readonly generation_id: number;
  readonly ordinal: number;
  readonly vector: Uint8Array;
}

/** The concatenated vectors of a generation, and their ordinals in the same order. */
export interface JoinedVectorsRow {
  readonly generation_id: number;
  /** Separated by commas. */
  readonly ordinals: string;
  readonly vectors: Uint8Array;
}

const highBytes = 'substr(vector, 1, CAST(:dimensions AS INTEGER))';
/** One row per generation: one row per vector takes three times as long to transfer. */
const joined = {
  // `group_concat` joins as text; the cast returns the original bytes.
  sqlite: `group_concat(ordinal) AS ordinals,
    CAST(group_concat(${highBytes}, '') AS BLOB) AS vectors`,
  postgres: `string_agg(CAST(ordinal AS TEXT), ',' ORDER BY ordinal) AS ordinals,
    string_agg(${highBytes}, CAST('' AS BYTEA) ORDER BY ordinal) AS vectors`,
};
const vectorsOf = (columns: string) => sql<JoinedVectorsRow>`
  SELECT generation_id, ${columns} FROM vectors
  WHERE generation_id {amongIds} AND model = :model
    AND length(vector) IN (CAST(:dimensions AS INTEGER), 2 * CAST(:dimensions AS INTEGER))
  GROUP BY generation_id`;
const joinedVectors = {
  sqlite: vectorsOf(joined.sqlite),
  postgres: vectorsOf(joined.postgres),
};

/** The high bytes of the vectors with this many dimensions. */
export function listVectors(
  reader: Reader & { readonly dialect: Dialect },
  filter: { model: string; dimensions: number; generationIds: readonly number[] },
): Promise<JoinedVectorsRow[]> {
  const { model, dimensions, generationIds } = filter;
  const ids = JSON.stringify(generationIds);
  return reader.run(joinedVectors[reader.dialect.name], { model, dimensions, ids });
}

export type GenerationTextRow = Pick<ChunkRow, 'generation_id' | 'ordinal' | 'heading' | 'text'>;

const textsOf = sql<GenerationTextRow>`
  SELECT generation_id, ordinal, heading, text FROM chunks
  WHERE generation_id {amongIds} ORDER BY generation_id, ordinal`;

export function listTexts(
  reader: Reader,
  generationIds: readonly number[],
): Promise<GenerationTextRow[]> {
  return reader.run(textsOf, { ids: JSON.stringify(generationIds) });
}

const vectorsAt = sql<GenerationVectorRow>`
  SELECT vectors.generation_id, vectors.ordinal, vectors.vector
  FROM {places} CROSS JOIN vectors
  WHERE vectors.generation_id = place.generation_id AND vectors.ordinal = place.ordinal
    AND vectors.model = :model`;

/** Full vectors. Order is not guaranteed. */
export function getVectors(
  reader: Reader,
  { model, places }: { model: string; places: readonly (readonly [number, number])[] },
): Promise<GenerationVectorRow[]> {
  return reader.run(vectorsAt, { model, places: JSON.stringify(places) });
}

export interface FacetRow {
  readonly id: string;
  readonly generation_id: number;
  readonly source: string;
  readonly language: string | null;
  readonly updated_at: number;
  readonly metadata: string | null;
  /** Null for a text that was not fetched. */
  readonly media_type: string | null;
}

const facetRows = sql<FacetRow>`
  SELECT documents.id, documents.generation_id, documents.source, documents.language,
    documents.updated_at, documents.metadata, fetches.media_type
  FROM documents LEFT JOIN fetches ON fetches.generation_id = documents.generation_id
  WHERE documents.id {amongKeys}`;

/** What the facets of a search count, for documents by their ids: there is no other index. */
export function listFacetRows(reader: Reader, ids: readonly string[]): Promise<FacetRow[]> {
  return reader.run(facetRows, { keys: JSON.stringify(ids) });
}
