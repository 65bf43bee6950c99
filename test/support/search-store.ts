/** What the store itself finds: the current passages with any of the words, without folding. */
import { wordsOf } from '../../src/pipeline/word/terms.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { getPassages, listMatching } from '../../src/store/search/passages.ts';

export interface Found {
  readonly chunkId: string;
  readonly documentId: string;
  readonly text: string;
}

export async function searchStore(
  database: Database,
  request: { caller: string; corpus: string; query: string; topK?: number },
): Promise<Found[]> {
  const { caller, corpus, query, topK = 100 } = request;
  const matching = { caller, corpus, words: wordsOf(query), filter: undefined, limit: topK };
  const places = await listMatching(database, matching);
  const rows = await getPassages(database, { caller, corpus, places });
  const rank = new Map(
    places.map((place, index) => [`${place.generation_id} ${place.ordinal}`, index]),
  );
  return rows
    .sort((a, b) => rankOf(rank, a) - rankOf(rank, b))
    .map((row) => ({ chunkId: row.key, documentId: row.document_id, text: row.text }));
}

function rankOf(
  rank: ReadonlyMap<string, number>,
  row: { generation_id: number; ordinal: number },
): number {
  return rank.get(`${row.generation_id} ${row.ordinal}`) ?? 0;
}
