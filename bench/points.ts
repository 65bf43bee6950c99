/**
 * Vectors of 256 dimensions in Postgres with pgvector: recall of the ten nearest, and the time of a
 * search, next to the same search in memory. Recall is against the exact cosine of the vectors
 * before quantization.
 */
import { PgvectorMaintenance } from '../src/engine/pgvector-maintenance.ts';
import { item } from '../src/kernel/lifecycle/item.ts';
import { limits } from '../src/kernel/limits/limits.ts';
import { fromSignedBytes, toSignedBytes } from '../src/provider/embedding/vector-bytes.ts';
import { Mirror, type VectorIndex } from '../src/search/vector/mirror.ts';
import { PointIndex } from '../src/search/vector/point-index.ts';
import { insertVectors } from '../src/store/document/chunks.ts';
import type { Database } from '../src/store/driver/database.ts';
import { migrate } from '../src/store/driver/migrate.ts';
import { openPostgres } from '../src/store/driver/postgres.ts';
import { openPgvector } from '../src/store/search/pgvector.ts';
import { startPostgres, whyNoPgvector } from '../test/support/postgres.ts';
import type { Section } from './measure/figure.ts';
import { chunksPerDocument, dot, Nearest, sharedBy, VectorSource } from './vectors.ts';

const of = { caller: 'bench', corpus: 'bench', model: 'bench' };
const documentsAtOnce = 50;
const queryCount = 50;

export interface PointsOptions {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

export async function benchPoints({ isQuick, tell }: PointsOptions): Promise<Section[]> {
  const missing = whyNoPgvector();
  if (missing !== undefined) {
    tell(`pgvector: skipped, because ${missing}.`);
    return [];
  }
  const server = await startPostgres({ pgvector: true, settings: { shared_buffers: '256MB' } });
  try {
    const sections: Section[] = [];
    for (const size of isQuick ? [20_000] : [20_000, 100_000]) {
      tell(`pgvector: ${size} vectors`);
      const database = await openPostgres({ url: await server.createDatabase() });
      sections.push(await measure(database, size).finally(() => database.close()));
    }
    return sections;
  } finally {
    await server.stop();
  }
}

async function measure(database: Database, size: number): Promise<Section> {
  const source = new VectorSource(7);
  const queries = Array.from({ length: queryCount }, () => source.next());
  await migrate(database, item);
  await openPgvector(database, 'auto');
  const { truth, writtenMs } = await fill(database, { source, queries, size });
  const memory = new Mirror(database);
  const near = new PointIndex({ database, otherwise: memory });
  const exact = new PointIndex({ database, otherwise: memory, exactMax: size });
  const search = (index: VectorIndex) => ask(index, queries, truth);
  const [byIndex, byAll, inMemory] = [
    await search(near),
    await search(exact),
    await search(memory),
  ];
  return {
    title: `pgvector: ${size} vectors`,
    note:
      `${queryCount} searches, one after the other, for ${limits.search.candidatesMax} ` +
      'candidates each, with the way to the server and back.',
    figures: [
      {
        name: 'recall@10 by the index',
        value: byIndex.recall,
        digits: 4,
        target: { atLeast: 0.95 },
      },
      { name: 'a search by the index', value: byIndex.meanMs, digits: 1, unit: 'ms' },
      { name: 'recall@10 by comparing all', value: byAll.recall, digits: 4 },
      { name: 'a search by comparing all', value: byAll.meanMs, digits: 1, unit: 'ms' },
      { name: 'recall@10 in memory', value: inMemory.recall, digits: 4 },
      { name: 'a search in memory', value: inMemory.meanMs, digits: 1, unit: 'ms' },
      { name: 'writing a vector with its point', value: writtenMs, digits: 2, unit: 'ms' },
    ],
  };
}

interface Filling {
  readonly source: VectorSource;
  readonly queries: readonly Float32Array[];
  readonly size: number;
}

/** Like an ingestion: the index is created on the way, when there is enough data. */
async function fill(database: Database, { source, queries, size }: Filling) {
  const truth = queries.map(() => new Nearest(10));
  const leaseHeartbeat = new PgvectorMaintenance(database);
  let writtenMs = 0;
  const step = documentsAtOnce * chunksPerDocument;
  for (let first = 0; first < size; first += step) {
    const vectors = Array.from({ length: step }, () => source.next());
    for (const [index, query] of queries.entries()) {
      vectors.forEach((vector, place) => {
        truth[index]?.offer(first + place, dot(query, vector));
      });
    }
    const bytes = vectors.map(toSignedBytes);
    const before = performance.now();
    await write(database, first, bytes);
    writtenMs += performance.now() - before;
    await leaseHeartbeat.run();
  }
  return { truth, writtenMs: writtenMs / size };
}

const newDocument = {
  text: `INSERT INTO documents (id, caller, corpus, source, generation, generation_id, as_of,
      content_hash, chunk_count, text_bytes, created_at, updated_at)
    VALUES (:id, :caller, :corpus, :id, 1, :generation_id, 1, '', :chunks, 1, 1, 1)`,
};

/** A generation's id is the index of its first vector, plus one. */
async function write(database: Database, first: number, bytes: readonly Uint8Array[]) {
  const { caller, corpus, model } = of;
  const chunks = chunksPerDocument;
  await database.write(async (transaction) => {
    for (let start = 0; start < bytes.length; start += chunks) {
      const id = first + start + 1;
      const own = bytes.slice(start, start + chunks);
      const row = { id: `d${id}`, generation_id: id, caller, corpus, chunks };
      await transaction.run(newDocument, row);
      const vectors = own.map((vector, ordinal) => ({ ordinal, model, vector }));
      await insertVectors(transaction, id, vectors);
    }
  });
}

async function ask(
  index: VectorIndex,
  queries: readonly Float32Array[],
  truth: readonly Nearest[],
): Promise<{ recall: number; meanMs: number }> {
  const asked = queries.map((query) => ({
    ...of,
    vector: fromSignedBytes(toSignedBytes(query)),
    size: limits.search.candidatesMax,
    rescored: limits.search.rescoredMin,
  }));
  // The first search loads what the others then find in memory.
  for (const request of asked.slice(0, 1)) await index.search(request);
  let found = 0;
  const before = performance.now();
  for (const [place, request] of asked.entries()) {
    found += sharedBy(truth[place]?.places() ?? [], await index.search(request));
  }
  const meanMs = (performance.now() - before) / asked.length;
  return { recall: found / (asked.length * 10), meanMs };
}
