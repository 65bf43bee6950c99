/** Ownership moves from one caller to another: completely, once, and despite interruptions. */
import assert from 'node:assert/strict';
import { carryOutMoves } from '../../../src/engine/command/ownership-moves.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { placeOf } from '../../../src/kernel/name/corpus-name.ts';
import {
  ensureCaller,
  getCaller,
  meetCaller,
  mergeCallers,
} from '../../../src/store/caller/callers.ts';
import { listOpenMoves } from '../../../src/store/caller/ownership-moves.ts';
import { listHoldings } from '../../../src/store/corpus/access.ts';
import { getCorpusSettings, setCorpusBudget } from '../../../src/store/corpus/settings.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import { getSpending } from '../../../src/store/money/spending.ts';
import { insertSyncSource } from '../../../src/store/sync/sources.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { meteredEmbedder } from '../../support/metered-embedder.ts';
import { pipelineOf } from './money.ts';

const know = (bench: EngineFixture, ...ids: string[]): Promise<void> =>
  bench.store.database.write(async (transaction) => {
    for (const id of ids) await ensureCaller(transaction, id, bench.world.now());
  });

const inline = (source: string) => ({
  kind: 'inline' as const,
  source,
  input: { kind: 'text' as const, title: null, body: `walrus ${source} sleeps` },
});

async function submit(bench: EngineFixture, caller: string, corpus: string, count = 1) {
  const sources = Array.from({ length: count }, (_, index) => inline(`page-${index}`));
  const { jobKey } = await bench.store.commands.submit({ caller, corpus, sources });
  return { key: jobKey, caller, ids: [] };
}

/** The owners of jobs and items, and their corpus names. */
async function owners(bench: EngineFixture) {
  const of = (table: string) =>
    bench.store.rows<{ caller: string; corpus: string; count: number }>(
      `SELECT caller, corpus, COUNT(*) AS count FROM ${table} GROUP BY caller, corpus
        ORDER BY caller, corpus`,
    );
  const lines = async (table: string) =>
    (await of(table)).map(({ caller, corpus, count }) => `${count} of ${caller} in ${corpus}`);
  return { jobs: await lines('jobs'), items: await lines('items') };
}

/** A store whose writes fail after this many. */
function failingAfter(database: Database, writes: number): Database {
  let left = writes;
  const write: Database['write'] = (work) => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error('the process is gone')) : database.write(work);
  };
  return new Proxy(database, {
    get: (target, name) => {
      if (name === 'write') return write;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A source of a corpus, by its name. */
function follow(bench: EngineFixture, caller: string, corpus: string, name: string) {
  const { caller: place_caller, corpus: place_corpus } = placeOf({ caller, corpus });
  const times = { schedule: null, every_ms: null, next_at: null, now: bench.world.now() };
  const place = { caller, corpus, place_caller, place_corpus, kind: 'folder', location: name };
  return bench.store.database.write((transaction) =>
    insertSyncSource(transaction, { ...place, ...times, name, options: '{}' }),
  );
}

export const callerTests: readonly EngineTest[] = [
  [
    'sources move with their corpora, and a name that is taken gets a number',
    async (bench) => {
      const engine = await bench.start();
      await know(bench, 'ann', 'bob');
      for (const corpus of ['notes', 'diary']) await submit(bench, 'ann', corpus);
      await follow(bench, 'ann', 'notes', 'docs');
      await follow(bench, 'ann', 'diary', 'diary');
      await follow(bench, 'bob', 'own', 'docs');
      const sources = async (): Promise<string[]> => {
        const rows = await bench.store.rows<Record<'caller' | 'name' | 'corpus', string>>(
          'SELECT caller, name, corpus FROM sync_sources ORDER BY caller, name',
        );
        return rows.map(({ caller, name, corpus }) => `${name} of ${caller} follows ${corpus}`);
      };
      await engine.callers.move('ann', 'bob', { corpus: 'notes' });
      assert.deepEqual(await sources(), [
        'diary of ann follows diary',
        'docs of bob follows own',
        'docs-2 of bob follows notes@ann',
      ]);
      await engine.callers.move('ann', 'bob');
      assert.deepEqual(await sources(), [
        'diary of bob follows diary@ann',
        'docs of bob follows own',
        'docs-2 of bob follows notes@ann',
      ]);
      await engine.callers.move('bob', 'ann');
      assert.ok((await sources()).includes('diary of ann follows diary'));
    },
  ],
  [
    'an interrupted move continues, and everything is moved once',
    async (bench) => {
      const { database } = bench.store;
      const engine = await bench.start({ fetched: () => new Promise(() => undefined) });
      await know(bench, 'ann', 'bob');
      await submit(bench, 'ann', 'notes', limits.caller.moveRowsMax + 200);
      await submit(bench, 'ann', 'diary');
      await database.write((transaction) =>
        setCorpusBudget(transaction, { caller: 'ann', corpus: 'notes', budgetCents: 70 }),
      );
      await engine.callers.move('ann', 'bob', { corpus: 'diary' });
      assert.deepEqual(await owners(bench), {
        jobs: ['1 of ann in notes', '1 of bob in diary@ann'],
        items: ['1200 of ann in notes', '1 of bob in diary@ann'],
      });
      await bench.stop(engine);
      await database.write((transaction) =>
        mergeCallers(transaction, { from: 'ann', to: 'bob', now: bench.world.now() }),
      );
      await assert.rejects(carryOutMoves(failingAfter(database, 5)), /the process is gone/);
      const between = await owners(bench);
      assert.ok(between.jobs.includes('1 of ann in notes'), between.jobs.join());
      assert.ok(between.items.includes('1000 of bob in notes@ann'), between.items.join());
      await carryOutMoves(database);
      assert.deepEqual(await owners(bench), {
        jobs: ['1 of bob in diary@ann', '1 of bob in notes@ann'],
        items: ['1 of bob in diary@ann', '1200 of bob in notes@ann'],
      });
      const events = await bench.store.events();
      assert.equal(events.filter(({ kind }) => kind === 'job_moved').length, 2);
      const budget = await getCorpusSettings(database, { caller: 'bob', corpus: 'notes@ann' });
      assert.equal(budget.budget_cents, 70);
      assert.equal((await getCaller(database, 'ann'))?.id, 'bob');
      await bench.world.advance(limits.caller.settleMs);
      await carryOutMoves(database);
      assert.deepEqual(await listOpenMoves(database), []);
    },
  ],
  [
    'a document in progress while its job moves ends in the right corpus',
    async (bench) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      let isHeld = false;
      const pipeline = pipelineOf(bench, meteredEmbedder());
      const { fetched, ...steps } = pipeline.steps;
      const slow: typeof fetched = async (context) => {
        isHeld = true;
        await released;
        return fetched?.(context);
      };
      const engine = await bench.start(
        {},
        { pipeline: { ...pipeline, steps: { fetched: slow, ...steps } as typeof steps } },
      );
      await know(bench, 'ann', 'bob');
      const job = await submit(bench, 'ann', 'notes');
      await bench.world.until('the document to be worked on', async () => isHeld);
      await engine.callers.move('ann', 'bob');
      release();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual((await owners(bench)).jobs, ['1 of bob in notes@ann']);
      const documents = await bench.store.rows<{ caller: string; corpus: string }>(
        'SELECT caller, corpus FROM documents',
      );
      assert.deepEqual(
        documents.map(({ caller, corpus }) => `${corpus} of ${caller}`),
        ['notes of ann'],
      );
      const { database } = bench.store;
      const [held1] = await listHoldings(database, 'bob');
      assert.deepEqual([held1?.namespace, held1?.corpus, held1?.access], ['ann', 'notes', 'own']);
      const paid = await getSpending(database, { caller: 'bob', corpus: 'notes@ann' });
      assert.ok(paid.cost_cents > 0, 'the caller who owns the job pays');
      assert.equal((await getSpending(database, { caller: 'ann' })).cost_cents, 0);
    },
  ],
  [
    'rows still written under a merged caller follow',
    async (bench) => {
      const { database } = bench.store;
      const now = bench.world.now();
      const named = { kind: 'membership', subject: 'acct_dave' } as const;
      const meet = (key: string, isNamed: boolean) =>
        database.write((transaction) =>
          meetCaller(transaction, { key, named: isNamed ? named : undefined }, now),
        );
      assert.equal((await meet('1111111111111111', false)).id, '1111111111111111');
      assert.equal((await meet('2222222222222222', false)).id, '2222222222222222');
      assert.equal((await meet('1111111111111111', true)).id, '1111111111111111');
      await submit(bench, '2222222222222222', 'notes');
      assert.equal((await meet('2222222222222222', true)).id, '1111111111111111');
      await carryOutMoves(database);
      await bench.world.advance(limits.caller.settleMs);
      await carryOutMoves(database);
      assert.deepEqual(await listOpenMoves(database), []);
      // A process that did not know of the merge.
      await submit(bench, '2222222222222222', 'late');
      await carryOutMoves(database);
      assert.deepEqual((await owners(bench)).jobs, [
        '1 of 1111111111111111 in late@2222222222222222',
        '1 of 1111111111111111 in notes@2222222222222222',
      ]);
    },
  ],
  [
    'a key that Membership gives to another account transfers nothing',
    async (bench) => {
      const { database } = bench.store;
      const meet = (key: string, subject: string) =>
        database.write((transaction) =>
          meetCaller(
            transaction,
            { key, named: { kind: 'membership', subject } },
            bench.world.now(),
          ),
        );
      assert.equal((await meet('1111111111111111', 'acct_dave')).id, 'acct_dave');
      await submit(bench, 'acct_dave', 'notes');
      assert.equal((await meet('1111111111111111', 'acct_erin')).id, 'acct_erin');
      assert.equal((await meet('3333333333333333', 'acct_dave')).id, 'acct_dave');
      assert.deepEqual((await owners(bench)).jobs, ['1 of acct_dave in notes']);
    },
  ],
  [
    'two processes that see a key for the first time create one caller',
    async (bench) => {
      const { database } = bench.store;
      const named = { kind: 'membership', subject: 'acct_dave' } as const;
      const met = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          database.write((transaction) =>
            meetCaller(transaction, { key: `000000000000000${index % 2}`, named }, 0),
          ),
        ),
      );
      assert.deepEqual([...new Set(met.map(({ id }) => id))], ['acct_dave']);
      const rows = await bench.store.rows<{ id: string }>('SELECT id FROM callers');
      const ids = rows.map(({ id }) => id).filter((id) => id !== 'local');
      assert.deepEqual(ids, ['acct_dave']);
    },
  ],
];
