/**
 * Keyword search: the best chunks of the current generations, by BM25 or the database's own rank.
 */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/statement.ts';

export interface SearchRequest {
  readonly caller: string;
  readonly corpus: string;
  readonly query: string;
  readonly topK?: number | undefined;
}

export interface Hit {
  readonly chunkId: string;
  readonly text: string;
  readonly score: number;
  readonly sourceUrl: string;
  readonly documentId: string;
  readonly title: string | null;
  readonly heading: string;
}

interface HitRow {
  readonly key: string;
  readonly text: string;
  readonly score: number;
  readonly source: string;
  readonly document_id: string;
  readonly title: string | null;
  readonly heading: string;
}

const columns = `chunks.key, chunks.text, chunks.heading, chunks.document_id, documents.source,
  documents.title`;
/** Only what is current is found: the join is where one generation ends and the next begins. */
const joins = `JOIN documents ON documents.id = chunks.document_id
    AND documents.generation_id = chunks.generation_id
  WHERE documents.corpus = :corpus AND documents.caller = :caller`;

const searchSqlite = sql<HitRow>`
  SELECT ${columns}, -bm25(chunk_search, 4.0, 2.0, 1.0) AS score
  FROM chunk_search JOIN chunks ON chunks.id = chunk_search.rowid ${joins}
    AND chunk_search MATCH :words
  ORDER BY score DESC, chunks.id LIMIT :top_k`;
const searchPostgres = sql<HitRow>`
  SELECT ${columns}, ts_rank_cd(chunk_search.words, to_tsquery('english', :words), 1) AS score
  FROM chunk_search JOIN chunks ON chunks.id = chunk_search.chunk_id ${joins}
    AND chunk_search.words @@ to_tsquery('english', :words)
  ORDER BY score DESC, chunks.id LIMIT :top_k`;
const corpusExists = sql<{ name: string }>`SELECT name FROM corpora WHERE name = :corpus`;

export async function searchKeywords(database: Database, request: SearchRequest): Promise<Hit[]> {
  const { caller, corpus, query } = request;
  if (query.length > limits.search.queryCharactersMax) {
    const bound = limits.search.queryCharactersMax;
    throw new Failure('bad_request', `a query has up to ${bound} characters`);
  }
  if ((await database.run(corpusExists, { corpus })).length === 0) {
    throw new Failure('corpus_unknown', `there is no corpus ${JSON.stringify(corpus)}`);
  }
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const isSqlite = database.dialect.name === 'sqlite';
  const rows = await database.run(isSqlite ? searchSqlite : searchPostgres, {
    caller,
    corpus,
    words: words.map((word) => (isSqlite ? `"${word}"` : word)).join(isSqlite ? ' OR ' : ' | '),
    top_k: Math.min(request.topK ?? limits.search.topKDefault, limits.search.topKMax),
  });
  return rows.map(toHit);
}

/** Letters and digits only: nothing of a query is ever read as search syntax. */
function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

function toHit(row: HitRow): Hit {
  return {
    chunkId: row.key,
    text: row.text,
    score: row.score,
    sourceUrl: row.source,
    documentId: row.document_id,
    title: row.title,
    heading: row.heading,
  };
}
