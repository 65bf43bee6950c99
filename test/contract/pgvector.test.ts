/** Postgres with pgvector, without permission for it, and after losing it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Finding } from '../../src/cli/command/doctor/doctor.ts';
import { PgvectorMaintenance } from '../../src/engine/pgvector-maintenance.ts';
import { open, type Pawl } from '../../src/index.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { fromSignedBytes, toSignedBytes } from '../../src/provider/embedding/vector-bytes.ts';
import { Mirror, type MirrorSearch } from '../../src/search/vector/mirror.ts';
import { PointIndex } from '../../src/search/vector/point-index.ts';
import { insertVectors } from '../../src/store/document/chunks.ts';
import type { Database, Reader } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { type NearRequest, PointReader } from '../../src/store/search/nearest-vectors.ts';
import { openPgvector } from '../../src/store/search/pgvector.ts';
import {
  arePointsFilled,
  fillSomePoints,
  listPointModels,
} from '../../src/store/search/pgvector-rows.ts';
import { openRunner } from '../e2e/pawl-process.ts';
import { hasPgvector, type Postgres, startPostgres, whyNoPgvector } from '../support/postgres.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const corpus = 'notes';
const caller = 'ann';
const model = 'axes';
const seed = 11;

let postgres: Postgres;

async function ask<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function setup(t: Cleanup): Promise<{ url: string; database: Database }> {
  const url = await postgres.createDatabase();
  const database = await openPostgres({ url });
  t.after(() => database.close());
  await migrate(database, item);
  return { url, database };
}

async function openStore(t: Cleanup, database: string): Promise<Pawl> {
  const pawl = await open({ data: temporaryDirectory(t), database });
  t.after(() => pawl.close());
  return pawl;
}

/** Numbers from -1 to 1, the same each time. */
function numbers(): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
}

interface Filling {
  readonly documents: number;
  readonly chunks: number;
  readonly dimensions?: number;
  readonly of?: string;
  readonly first?: number;
}

/** Documents with vectors, and nothing else. Generations are numbered from `first`. */
async function fill(database: Database, filling: Filling): Promise<void> {
  const { documents, chunks, dimensions = 16, of = corpus, first = 1 } = filling;
  const next = numbers();
  const at = { generation: 1, as_of: 1, content_hash: '', text_bytes: 1, at: 1 };
  await database.write(async (transaction) => {
    for (let id = first; id < first + documents; id += 1) {
      await transaction.run(
        {
          text: `INSERT INTO documents (id, caller, corpus, source, generation, generation_id,
              as_of, content_hash, chunk_count, text_bytes, created_at, updated_at)
            VALUES (:id, :caller, :of, :id, :generation, :generation_id, :as_of, :content_hash,
              :chunks, :text_bytes, :at, :at)`,
        },
        { ...at, id: `d${id}`, caller, of, generation_id: id, chunks },
      );
      const vectors = Array.from({ length: chunks }, (_, ordinal) => {
        const vector = toSignedBytes(Array.from({ length: dimensions }, next));
        return { ordinal, model, vector };
      });
      await insertVectors(transaction, id, vectors);
    }
  });
}

function searchFor(dimensions = 16): MirrorSearch {
  const vector = fromSignedBytes(
    toSignedBytes(Array.from({ length: dimensions }, (_, place) => Math.cos(place))),
  );
  return { caller, corpus, model, vector, size: 100, rescored: 100 };
}

const nobody = { search: () => Promise.reject(new Error('Postgres did not search')) };

const skip = whyNoPgvector() ?? false;

describe('pgvector', () => {
  before(async () => {
    postgres = await startPostgres({ durable: false, pgvector: true });
  });
  after(() => postgres.stop());

  test('is not used if the role may not install it, and the doctor says so', {
    skip,
  }, async (t) => {
    const url = await postgres.createDatabase();
    await ask(url, 'CREATE ROLE guest LOGIN; GRANT ALL ON SCHEMA public TO guest');
    const guest = url.replace('//pawl@', '//guest@');
    const pawl = await openStore(t, guest);
    assert.equal(sessionOf(pawl).pgvector?.isUsed, false);
    const job = await pawl.ingest([{ id: 'a', text: 'A walrus lies on the ice.' }], { corpus });
    await job.wait();
    const [hit] = await pawl.search(corpus, 'walrus', { mode: 'vector' });
    assert.match(hit?.text ?? '', /walrus/);
    const finding = await askDoctor(t, guest);
    assert.equal(finding?.verdict, 'warn');
    assert.match(finding?.found ?? '', /may not install it/);
    assert.match(finding?.advice ?? '', /CREATE EXTENSION vector/);
  });

  test('is prepared once by processes that start at the same time', { skip }, async (t) => {
    const { url, database } = await setup(t);
    const other = await openPostgres({ url });
    t.after(() => other.close());
    const opened = await Promise.all([database, other].map((one) => openPgvector(one, 'auto')));
    assert.deepEqual(
      opened.map((standing) => standing?.isUsed),
      [true, true],
    );
  });

  test('gets the vectors of an existing store, and is used then', {
    skip,
  }, async (t) => {
    const { database } = await setup(t);
    const documents = limits.points.fillGenerations + 1;
    await fill(database, { documents, chunks: 3 });
    const memory = await new Mirror(database).search(searchFor());
    assert.equal((await openPgvector(database, 'auto'))?.isUsed, true);
    const asked: string[] = [];
    const otherwise = {
      search: async () => {
        asked.push('memory');
        return [];
      },
    };
    const index = new PointIndex({ database, otherwise });
    assert.equal(await fillSomePoints(database), true);
    await index.search(searchFor());
    assert.deepEqual(asked, ['memory'], 'half of them is not enough');
    // Another process continues where the first one stopped.
    const other = new PgvectorMaintenance(database);
    await other.run();
    assert.equal(await arePointsFilled(database), true);
    assert.deepEqual(await index.search(searchFor()), memory);
    assert.deepEqual(asked, ['memory']);
  });

  test('has no copy of a vector that is removed during the backfill', {
    skip,
  }, async (t) => {
    const { url, database } = await setup(t);
    await fill(database, { documents: 3, chunks: 2 });
    await openPgvector(database, 'auto');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    await client.query('BEGIN');
    await client.query('DELETE FROM vectors WHERE generation_id = 2');
    let isOver = false;
    const filling = new PgvectorMaintenance(database).run().finally(() => {
      isOver = true;
    });
    const isWaiting = async (): Promise<boolean> => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      return (await ask(url, `${waiting} AND datname = current_database()`)).length > 0;
    };
    await until(async () => isOver || (await isWaiting()), { what: 'the backfill to wait' });
    await client.query('COMMIT');
    await filling;
    const points = await ask<{ id: string }>(
      url,
      'SELECT DISTINCT generation_id AS id FROM vector_points ORDER BY 1',
    );
    assert.deepEqual(
      points.map(({ id }) => Number(id)),
      [1, 3],
    );
  });

  test('uses an index among many, and finds what a full comparison finds', {
    skip,
  }, async (t) => {
    const { url, database } = await setup(t);
    await openPgvector(database, 'auto');
    const chunks = 20;
    await fill(database, { documents: limits.points.exactMax / chunks + 1, chunks });
    const few = { documents: 2, chunks, of: 'few', first: 1_000_000 };
    await fill(database, few);
    await new PgvectorMaintenance(database).run();
    const [row] = await listPointModels(database, 1);
    assert.equal(row?.is_indexed, true);
    const request = searchFor();
    const plan = await planOf(database, row?.id ?? 0, request);
    assert.match(plan, /Index Scan using vector_points_1/, plan);
    const filters = [{ places: [{ generationId: 1, ordinal: 1 }] }, { generations: [1, 2] }];
    for (const within of filters) {
      const narrowed = await planOf(database, row?.id ?? 0, { ...request, within });
      assert.match(narrowed, /Index Scan using vector_points_1/, narrowed);
      assert.match(narrowed, /hashed SubPlan/, narrowed);
    }
    const index = new PointIndex({ database, otherwise: nobody });
    const [found, all] = [await index.search(request), await new Mirror(database).search(request)];
    const near = new Set(found.slice(0, 10).map((hit) => `${hit.generationId}/${hit.ordinal}`));
    const missed = all
      .slice(0, 10)
      .filter((hit) => !near.has(`${hit.generationId}/${hit.ordinal}`));
    assert.ok(missed.length <= 1, `${missed.length} of 10 were missed (seed ${seed})`);
    // So few among so many are not lost, even if the index scan ends early.
    const narrow = await openPostgres({ url, connectionsMax: 1 });
    t.after(() => narrow.close());
    await narrow.run({ text: 'SET hnsw.max_scan_tuples = 1' });
    const other = { ...request, corpus: 'few' };
    const { vector, size } = other;
    const wanted = { caller, corpus: 'few', modelId: row?.id ?? 0, vector, size };
    const passed = await new PointReader(narrow).listNearly(wanted);
    assert.ok(passed.length < few.documents * chunks, `the index has found ${passed.length}`);
    const hidden = new PointIndex({ database: narrow, otherwise: nobody, exactMax: 0 });
    assert.deepEqual(await hidden.search(other), await new Mirror(database).search(other));
    await database.write((transaction) => transaction.run({ text: 'DELETE FROM vectors' }));
    await new PgvectorMaintenance(database).run();
    assert.equal((await listPointModels(database, 1))[0]?.is_indexed, false);
  });

  test('separates the vectors of two models of one corpus', { skip }, async (t) => {
    const { database } = await setup(t);
    await openPgvector(database, 'auto');
    await new PgvectorMaintenance(database).run();
    await fill(database, { documents: 2, chunks: 2 });
    const vector = toSignedBytes([1, 2, 3, 4]);
    await database.write((transaction) =>
      insertVectors(transaction, 1, [{ ordinal: 0, model: 'next', vector }]),
    );
    const index = new PointIndex({ database, otherwise: nobody });
    assert.equal((await index.search(searchFor())).length, 4);
    const next = { ...searchFor(4), model: 'next' };
    assert.deepEqual(
      (await index.search(next)).map(({ documentId }) => documentId),
      ['d1'],
    );
    await database.write((transaction) =>
      transaction.run({ text: `DELETE FROM vectors WHERE model = '${model}'` }),
    );
    assert.deepEqual(await index.search(searchFor()), []);
    assert.equal((await index.search(next)).length, 1);
  });

  test('leaves vectors that it cannot index to the search in memory', { skip }, async (t) => {
    const { database } = await setup(t);
    await openPgvector(database, 'auto');
    await new PgvectorMaintenance(database).run();
    const dimensions = limits.points.dimensionsMax + 1;
    await fill(database, { documents: 1, chunks: 2, dimensions });
    const index = new PointIndex({ database, otherwise: new Mirror(database) });
    assert.equal((await index.search(searchFor(dimensions))).length, 2);
  });

  const losses = [
    ['dropped', 'DROP EXTENSION vector CASCADE'],
    ['moved off the search path', 'CREATE SCHEMA other; ALTER EXTENSION vector SET SCHEMA other'],
  ] as const;
  for (const [what, loss] of losses) {
    test(`that is ${what} stops nothing after the next start`, { skip }, async (t) => {
      const url = await postgres.createDatabase();
      const first = await openStore(t, url);
      assert.equal(sessionOf(first).pgvector?.isUsed, true);
      await (await first.ingest([{ id: 'a', text: 'A walrus on the ice.' }], { corpus })).wait();
      await first.close();
      await ask(url, loss);
      const second = await openStore(t, url);
      assert.equal(sessionOf(second).pgvector?.isUsed, what === 'dropped');
      const job = await second.ingest([{ id: 'b', text: 'A lantern in the rain.' }], { corpus });
      assert.equal((await job.wait()).state, 'succeeded');
      const hits = await second.search(corpus, 'walrus', { mode: 'vector', topK: 10 });
      assert.equal(hits.length, 2);
    });
  }
});

async function askDoctor(t: Cleanup, url: string): Promise<Finding | undefined> {
  const environment = { PAWL_DATABASE_URL: url };
  const { stdout } = await openRunner(t).run(['doctor', '--json'], { environment });
  const findings = stdout.trim().split('\n');
  return findings
    .map((line) => JSON.parse(line) as Finding)
    .find(({ check }) => check === 'pgvector');
}

async function planOf(
  database: Database,
  modelId: number,
  { vector, size, within }: MirrorSearch & Pick<NearRequest, 'within'>,
): Promise<string> {
  const lines: string[] = [];
  const explaining: Reader = {
    run: async ({ text }, parameters) => {
      const rows = await database.run({ text: `EXPLAIN ${text}` }, parameters);
      for (const row of rows as { 'QUERY PLAN': string }[]) lines.push(row['QUERY PLAN']);
      return [];
    },
  };
  const near = { caller, corpus, modelId, vector, size, within };
  await new PointReader(explaining).listNearly(near);
  return lines.join('\n');
}

const whyNot = hasPgvector() && 'the Postgres of this system has pgvector';

describe('a Postgres without pgvector', { skip: whyNot }, () => {
  before(async () => {
    postgres = await startPostgres({ durable: false });
  });
  after(() => postgres.stop());

  test('is not used if the server has none', async (t) => {
    const url = await postgres.createDatabase();
    const pawl = await openStore(t, url);
    assert.equal(sessionOf(pawl).pgvector?.isUsed, false);
    await (await pawl.ingest([{ id: 'a', text: 'A walrus on the ice.' }], { corpus })).wait();
    assert.equal((await pawl.search(corpus, 'walrus', { mode: 'vector' })).length, 1);
    const finding = await askDoctor(t, url);
    assert.equal(finding?.verdict, 'ok');
    assert.match(finding?.found ?? '', /not on this server: vectors are searched in memory/);
  });
});
