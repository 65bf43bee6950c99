/** What a vector search finds in a corpus, as the labels of chunks. */

import { fromSignedBytes, toSignedBytes } from '../../../src/provider/embedding/vector-bytes.ts';
import { readAllowed } from '../../../src/search/filter/allowed.ts';
import { toPassageFilter } from '../../../src/search/request.ts';
import type { VectorIndex } from '../../../src/search/vector/mirror.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import { getPassages } from '../../../src/store/search/passages.ts';
import { type Corpus, dimensions, model } from './bench.ts';

const upwards = fromSignedBytes(
  toSignedBytes(Array.from({ length: dimensions }, (_, place) => (place === 0 ? 1 : 0))),
);

interface Looking {
  readonly database: Database;
  readonly index: VectorIndex;
  readonly turnsMax?: number;
}

export async function vectorsSeen(
  { database, index, turnsMax = 50 }: Looking,
  of: Corpus,
  heading?: string,
): Promise<string[]> {
  const filter = toPassageFilter({ heading });
  const allowed = filter && (await readAllowed(database, { ...of, filter }));
  for (let turns = 0; turns < turnsMax; turns += 1) {
    const hits = await index.search({
      ...of,
      model,
      vector: upwards,
      size: 500,
      rescored: 10,
      allowed,
    });
    const places = hits.map(({ generationId, ordinal }) => ({
      generation_id: generationId,
      ordinal,
    }));
    const rows = await getPassages(database, { ...of, places, filter });
    // Like the search: chunks replaced between the two queries are searched again.
    if (rows.length === places.length) return rows.map(({ text }) => text).sort();
  }
  throw new Error(`${of.corpus} was replaced ${turnsMax} times under one search`);
}
