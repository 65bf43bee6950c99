/**
 * The packed words of generations, and how they were analyzed: written with their search rows,
 * removed with their chunks.
 */
import type { Reader, Transaction } from '../driver/database.ts';
import { all, first, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

const insert = sql`
  INSERT INTO generation_words (generation_id, words) VALUES (:generation_id, :words)
  ON CONFLICT (generation_id) DO UPDATE SET words = excluded.words`;
const insertAnalysis = sql`
  INSERT INTO generation_analysis (generation_id, version, language)
  VALUES (:generation_id, :version, :language)
  ON CONFLICT (generation_id) DO UPDATE
    SET version = excluded.version, language = excluded.language`;

export interface AnalyzedWords {
  readonly words: Uint8Array;
  readonly version: number;
  readonly language: string;
}

export async function writeWords(
  transaction: Transaction,
  generationId: number,
  { words, version, language }: AnalyzedWords,
): Promise<void> {
  await transaction.run(insert, { generation_id: generationId, words });
  await transaction.run(insertAnalysis, { generation_id: generationId, version, language });
}

export interface GenerationWordsRow {
  readonly generation_id: number;
  readonly words: Uint8Array;
  /** Null: packed before languages were distinguished. */
  readonly language: string | null;
}

const ofGenerations = sql<GenerationWordsRow>`
  SELECT generation_words.generation_id, generation_words.words, generation_analysis.language
  FROM generation_words LEFT JOIN generation_analysis
    ON generation_analysis.generation_id = generation_words.generation_id
  WHERE generation_words.generation_id {amongIds}`;

/** Only generations that have them: older stores have generations without. */
export function listWords(
  reader: Reader,
  generationIds: readonly number[],
): Promise<GenerationWordsRow[]> {
  return reader.run(ofGenerations, { ids: JSON.stringify(generationIds) });
}

/** The analysis of all generations again, and how far it is. */
export interface ReindexRow {
  readonly last_document: string;
  readonly documents_done: number;
  readonly documents_total: number;
  /** Null until the last document is done. */
  readonly finished_at: number | null;
}

export const getReindex = first<number, ReindexRow>`
  SELECT last_document, documents_done, documents_total, finished_at
  FROM word_reindex WHERE version = :version`;

export const beginReindex = write<{ version: number }>`
  INSERT INTO word_reindex (version, last_document, documents_done, documents_total)
  SELECT :version, '', 0, (SELECT COUNT(*) FROM documents)
  ON CONFLICT (version) DO NOTHING`;

export const advanceReindex = write<{
  version: number;
  lastDocument: string;
  documents: number;
  finishedAt: number | null;
}>`
  UPDATE word_reindex SET last_document = :lastDocument,
    documents_done = documents_done + :documents, finished_at = :finishedAt
  WHERE version = :version`;

export interface UnanalyzedRow {
  readonly id: string;
  readonly generation_id: number;
  readonly title: string | null;
  readonly language: string | null;
  readonly chunk_count: number;
  /** Null: never analyzed. */
  readonly version: number | null;
}

/** The next documents, with the version of their analysis. */
export const listAnalyses = all<{ after: string; limit: number }, UnanalyzedRow>`
  SELECT documents.id, documents.generation_id, documents.title, documents.language,
    documents.chunk_count, generation_analysis.version
  FROM documents LEFT JOIN generation_analysis
    ON generation_analysis.generation_id = documents.generation_id
  WHERE documents.id > :after ORDER BY documents.id LIMIT :limit`;

/** Sets the language of a document that has none. */
export const setDetectedLanguage = write<{ id: string; language: string }>`
  UPDATE documents SET language = :language WHERE id = :id AND language IS NULL`;
