/** A store without a sink: its own content has the same guarantees. */
import assert from 'node:assert/strict';
import { PgvectorMaintenance } from '../../../src/engine/pgvector-maintenance.ts';
import { Mirror } from '../../../src/search/vector/mirror.ts';
import { PointIndex } from '../../../src/search/vector/point-index.ts';
import { listEntities } from '../../../src/store/document/entities.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import { openPgvector } from '../../../src/store/search/pgvector.ts';
import { listPointModels, setPointIndex } from '../../../src/store/search/pgvector-rows.ts';
import type { OpenStore } from '../../support/store-fixture.ts';
import type { Cleanup } from '../../support/temporary.ts';
import type { SinkCase } from './bench.ts';
import { vectorsSeen } from './vectors-seen.ts';

export function vectorCase(open: OpenStore): (t: Cleanup) => Promise<SinkCase> {
  return async (t) => {
    const store = await open(t);
    const { database } = store;
    const index = new Mirror(database);
    const seen: SinkCase['seen'] = (of, heading) => vectorsSeen({ database, index }, of, heading);
    return { name: database.dialect.name, keeps: 'vectors', store, seen };
  };
}

/** The vectors of unsettled items stay in the store, and so do their pgvector copies. */
const keptPoints = `
  SELECT COALESCE(chunks.text, 'a vector without its copy, or a copy without its vector') AS text
  FROM vectors FULL JOIN vector_points AS point
    ON point.generation_id = vectors.generation_id AND point.ordinal = vectors.ordinal
  LEFT JOIN chunks ON chunks.generation_id = vectors.generation_id
    AND chunks.generation_id = point.generation_id AND chunks.ordinal = vectors.ordinal
  WHERE chunks.id IS NULL
    OR EXISTS (SELECT 1 FROM documents WHERE documents.generation_id = chunks.generation_id)`;

/** Postgres with pgvector; `exactMax` 0 uses the index for everything. */
export function pointCase(open: OpenStore, exactMax?: number): (t: Cleanup) => Promise<SinkCase> {
  return async (t) => {
    const store = await open(t);
    const { database } = store;
    assert.equal((await openPgvector(database, 'auto'))?.isUsed, true);
    await new PgvectorMaintenance(database).run();
    const nobody = { search: () => Promise.reject(new Error('Postgres did not search')) };
    const index = new PointIndex({ database, otherwise: nobody, exactMax });
    const seen: SinkCase['seen'] = async (of, heading) => {
      if (exactMax === 0) await indexAll(database);
      return vectorsSeen({ database, index }, of, heading);
    };
    const kept = async (): Promise<string[]> => {
      const rows = await store.rows<{ text: string }>(keptPoints);
      return rows.map(({ text }) => text).sort();
    };
    return { name: 'pgvector', keeps: 'vectors', store, seen, kept };
  };
}

export async function indexAll(database: Database): Promise<void> {
  for (const model of await listPointModels(database, 1)) {
    await database.write((transaction) => setPointIndex(transaction, model, true));
  }
}

export function entityCase(open: OpenStore): (t: Cleanup) => Promise<SinkCase> {
  return async (t) => {
    const store = await open(t);
    const { database } = store;
    const seen: SinkCase['seen'] = async (of) => {
      const rows = await listEntities(database, { ...of, limit: 1000 });
      return rows.map(({ name }) => name).sort();
    };
    return { name: database.dialect.name, keeps: 'entities', store, seen };
  };
}
