/** Chunks with their vectors and search rows, all keyed by their generation. */
import { hash } from 'node:crypto';
import type { Reader, Transaction } from '../driver/database.ts';
import { all } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface NewChunk {
  /** Derived from heading and text, unique within its document: see `chunkIdOf`. */
  readonly key: string;
  readonly ordinal: number;
  readonly heading: string;
  readonly text: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly tokenCount: number;
  /** The page or slide on which it begins, if the document has pages. */
  readonly page?: number | undefined;
}

export interface ChunkRow {
  readonly id: number;
  readonly key: string;
  readonly document_id: string;
  readonly generation_id: number;
  readonly ordinal: number;
  readonly heading: string;
  readonly text: string;
  readonly start_offset: number;
  readonly end_offset: number;
  readonly token_count: number;
  readonly page: number | null;
}

const insertChunk = sqlRows({
  key: 'text',
  document_id: 'text',
  generation_id: 'int',
  ordinal: 'int',
  heading: 'text',
  text: 'text',
  start_offset: 'int',
  end_offset: 'int',
  token_count: 'int',
  page: 'int',
})`INSERT INTO chunks (key, document_id, generation_id, ordinal, heading, text, start_offset,
    end_offset, token_count, page)
  SELECT :key, :document_id, :generation_id, :ordinal, :heading, :text, :start_offset,
    :end_offset, :token_count, :page {rows}`;

/**
 * Chunk ids are unique even if two documents share a paragraph. The id stays the same when the
 * document is ingested again with the same heading and text at that place.
 */
export function chunkIdOf(documentId: string, key: string): string {
  return hash('sha256', `${documentId}\0${key}`).slice(0, 24);
}

export async function insertChunks(
  transaction: Transaction,
  owner: { documentId: string; generationId: number },
  chunks: readonly NewChunk[],
): Promise<void> {
  await transaction.each(
    insertChunk,
    chunks.map((chunk) => ({
      key: chunkIdOf(owner.documentId, chunk.key),
      document_id: owner.documentId,
      generation_id: owner.generationId,
      ordinal: chunk.ordinal,
      heading: chunk.heading,
      text: chunk.text,
      start_offset: chunk.startOffset,
      end_offset: chunk.endOffset,
      token_count: chunk.tokenCount,
      page: chunk.page ?? null,
    })),
  );
}

const insertVector = sqlRows({
  generation_id: 'int',
  ordinal: 'int',
  model: 'text',
  vector: 'bytes',
})`
  INSERT INTO vectors (generation_id, ordinal, model, vector)
  SELECT :generation_id, :ordinal, :model, :vector {rows} WHERE 1 = 1
  ON CONFLICT (generation_id, ordinal, model) DO NOTHING`;

export async function insertVectors(
  transaction: Transaction,
  generationId: number,
  vectors: readonly { ordinal: number; model: string; vector: Uint8Array }[],
): Promise<void> {
  await transaction.each(
    insertVector,
    vectors.map((row) => ({ generation_id: generationId, ...row })),
  );
}

const countParts = sql<{ chunks: number; vectors: number }>`
  SELECT (SELECT COUNT(*) FROM chunks WHERE generation_id = :generation_id) AS chunks,
    (SELECT COUNT(DISTINCT ordinal) FROM vectors WHERE generation_id = :generation_id) AS vectors`;

export async function countOfGeneration(
  reader: Reader,
  generationId: number,
): Promise<{ chunks: number; vectors: number }> {
  const [row] = await reader.run(countParts, { generation_id: generationId });
  return { chunks: row?.chunks ?? 0, vectors: row?.vectors ?? 0 };
}

const countByModel = sql<{ model: string; count: number }>`
  SELECT model, COUNT(*) AS count FROM vectors WHERE generation_id = :generation_id GROUP BY model`;

/** How many vectors of each model a generation has. */
export async function countModels(
  reader: Reader,
  generationId: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.run(countByModel, { generation_id: generationId });
  return new Map(rows.map(({ model, count }) => [model, count]));
}

export const listChunks = all<number, ChunkRow>`
  SELECT * FROM chunks WHERE generation_id = :generation_id ORDER BY ordinal`;

const ofIndexed = `FROM chunks JOIN documents ON documents.id = chunks.document_id
    AND documents.generation_id = chunks.generation_id
  WHERE chunks.generation_id {amongIds}`;
// In the order of their numbers: out of order, FTS5 writes each run separately.
const indexSqlite = sql`
  INSERT INTO chunk_search (rowid, title, heading, text)
  SELECT chunks.id, COALESCE(documents.title, ''), chunks.heading, chunks.text ${ofIndexed}
  ORDER BY chunks.id`;
const indexPostgres = sql`
  INSERT INTO chunk_search (chunk_id, words)
  SELECT chunks.id, setweight(to_tsvector('english', COALESCE(documents.title, '')), 'A') ||
    setweight(to_tsvector('english', chunks.heading), 'B') || to_tsvector('english', chunks.text)
  ${ofIndexed}`;

/** Makes a generation searchable if it is the current one at the end of the transaction. */
export function indexGeneration(transaction: Transaction, generationId: number): void {
  const statement = transaction.dialect.name === 'sqlite' ? indexSqlite : indexPostgres;
  transaction.runLast(statement, generationId);
}

const ofGenerations = 'IN (SELECT id FROM chunks WHERE generation_id = :generation_id)';
const pruneStatements = {
  sqlite: [sql`DELETE FROM chunk_search WHERE rowid ${ofGenerations}`],
  postgres: [sql`DELETE FROM chunk_search WHERE chunk_id ${ofGenerations}`],
};
const generationTables = [
  ...['chunks', 'vectors', 'entities', 'entity_relations', 'fetches'],
  ...['sink_deliveries', 'generation_words', 'generation_analysis'],
];
const pruneRest = generationTables.map(
  (table) => sql`DELETE FROM ${table} WHERE generation_id = :generation_id`,
);

/** Removes everything of a generation except its text. */
export async function pruneGeneration(
  transaction: Transaction,
  generationId: number,
): Promise<void> {
  for (const statement of [...pruneStatements[transaction.dialect.name], ...pruneRest]) {
    await transaction.run(statement, { generation_id: generationId });
  }
}
