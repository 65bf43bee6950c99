import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { type Copy, Follower } from '../../src/search/follower.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const of = { caller: 'local', corpus: 'birds', kind: 'names' };

/** A copy of the ids, and how often the log was read for it. */
async function setup(t: Cleanup) {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  const ingest = async (id: string): Promise<unknown> =>
    (await pawl.ingest([{ id, text: 'The heron waits.' }], { corpus: of.corpus })).wait();
  await ingest('one');
  const { store } = sessionOf(pawl);
  const reads = { count: 0, failure: undefined as Error | undefined, released: 0 };
  const database: Database = Object.create(store);
  Object.assign(database, {
    dialect: store.dialect,
    now: () => store.now(),
    run: (...asked: Parameters<Database['run']>) => {
      if (asked[0].text.includes('seq > :after')) reads.count += 1;
      if (reads.failure) return Promise.reject(reads.failure);
      return store.run(...asked);
    },
  });
  const follower = new Follower(database, (): Copy & { ids: Map<string, number> } => {
    const ids = new Map<string, number>();
    return {
      ids,
      index: {
        documentIds: () => [...ids.keys()],
        generationOf: (id) => ids.get(id),
        remove: (id) => void ids.delete(id),
      },
      put: async (rows) => {
        for (const row of rows) ids.set(row.id, row.generation_id);
      },
      release: () => {
        reads.released += 1;
      },
    };
  });
  const count = () => follower.use(of, ({ ids }) => ids.size);
  return { ingest, reads, count };
}

test('searches that arrive together share one reading of the changes', async (t) => {
  const { ingest, reads, count } = await setup(t);
  await count();
  reads.count = 0;
  await count();
  const alone = reads.count;
  assert.ok(alone > 0);
  await ingest('two');
  reads.count = 0;
  const counts = await Promise.all(Array.from({ length: 20 }, count));
  assert.deepEqual(new Set(counts), new Set([2]));
  assert.ok(reads.count <= 2 * alone, `${reads.count} reads, ${alone} for a search alone`);
});

test('a search sees what was committed before it, while another one reads', async (t) => {
  const { ingest, count } = await setup(t);
  await count();
  const first = count();
  await ingest('two');
  const [, second] = await Promise.all([first, count()]);
  assert.equal(second, 2);
});

test('a failed reading fails those that share it, and its copy is released once', async (t) => {
  const { reads, count } = await setup(t);
  await count();
  reads.failure = new Error('the store is away');
  const results = await Promise.allSettled([count(), count(), count()]);
  assert.ok(results.every(({ status }) => status === 'rejected'));
  reads.failure = undefined;
  assert.equal(await count(), 1);
  assert.equal(reads.released, 1);
});
