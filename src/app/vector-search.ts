/** Chooses where vectors are searched: in a sink, in Postgres, or in the memory of this process. */

import type { SavedCopies } from '../search/saved/saved-copies.ts';
import { Mirror, type VectorIndex } from '../search/vector/mirror.ts';
import { PointIndex } from '../search/vector/point-index.ts';
import { SinkIndex } from '../search/vector/sink-index.ts';
import type { Database } from '../store/driver/database.ts';
import type { PgvectorSetting } from '../store/search/pgvector.ts';
import type { OpenSinks } from './adapter/sinks.ts';

export interface VectorSearchOptions {
  readonly pgvector?: PgvectorSetting | undefined;
  readonly saved?: SavedCopies | undefined;
}

/**
 * Each index falls back to the next one if it cannot answer. Only the searcher uses it, which waits
 * for the disk itself.
 */
export function vectorsOf(
  { early: database }: Database,
  { searched }: Pick<OpenSinks, 'searched'>,
  { pgvector = 'auto', saved }: VectorSearchOptions = {},
): VectorIndex {
  const inMemory = new Mirror(database, { saved });
  const canAsk = database.dialect.name === 'postgres' && pgvector === 'auto';
  const otherwise = canAsk ? new PointIndex({ database, otherwise: inMemory }) : inMemory;
  return searched ? new SinkIndex({ database, sink: searched, otherwise }) : otherwise;
}
