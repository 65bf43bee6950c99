/** Chooses where vectors are searched: in a sink, in Postgres, or in the memory of this process. */
import { Mirror, type VectorIndex } from '../search/vector/mirror.ts';
import { PointIndex } from '../search/vector/point-index.ts';
import { SinkIndex } from '../search/vector/sink-index.ts';
import type { Database } from '../store/driver/database.ts';
import type { PgvectorSetting } from '../store/search/pgvector.ts';
import type { OpenSinks } from './adapter/sinks.ts';

/** Each index falls back to the next one if it cannot answer. */
export function vectorsOf(
  database: Database,
  { searched }: Pick<OpenSinks, 'searched'>,
  pgvector: PgvectorSetting = 'auto',
): VectorIndex {
  const inMemory = new Mirror(database);
  const canAsk = database.dialect.name === 'postgres' && pgvector === 'auto';
  const otherwise = canAsk ? new PointIndex({ database, otherwise: inMemory }) : inMemory;
  return searched ? new SinkIndex({ database, sink: searched, otherwise }) : otherwise;
}
