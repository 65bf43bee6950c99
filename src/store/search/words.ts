/** The packed words of generations: written with their search rows, removed with their chunks. */
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const insert = sql`
  INSERT INTO generation_words (generation_id, words) VALUES (:generation_id, :words)
  ON CONFLICT (generation_id) DO UPDATE SET words = excluded.words`;

export async function writeWords(
  transaction: Transaction,
  generationId: number,
  words: Uint8Array,
): Promise<void> {
  await transaction.run(insert, { generation_id: generationId, words });
}

export interface GenerationWordsRow {
  readonly generation_id: number;
  readonly words: Uint8Array;
}

const ofGenerations = sql<GenerationWordsRow>`
  SELECT generation_id, words FROM generation_words WHERE generation_id {amongIds}`;

/** Only generations that have them: older stores have generations without. */
export function listWords(
  reader: Reader,
  generationIds: readonly number[],
): Promise<GenerationWordsRow[]> {
  return reader.run(ofGenerations, { ids: JSON.stringify(generationIds) });
}
