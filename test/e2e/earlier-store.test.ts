/** A store that the version before wrote opens, migrates, continues, and passes the doctor. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OpenOptions, open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import type { BatchProvider } from '../../src/provider/batch/batch-provider.ts';
import { migrations } from '../../src/store/driver/migrate.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { countWithoutCause } from '../../src/store/item/items.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { copyPostgres, copySqlite, localBelongingsIn } from '../support/stores/open.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openRunner } from './pawl-process.ts';

let postgres: Postgres;
before(async () => {
  // Durable, since the doctor checks that.
  postgres = await startPostgres();
});
after(() => postgres.stop());

/** The provider that the store's batch task names. It completes every job at the first poll. */
function acme(): BatchProvider {
  return {
    name: 'ACME',
    taskTypes: ['summary'],
    split: 'together',
    merge: 'flat',
    recognizedBy: 'token',
    find: async () => undefined,
    submit: async ({ token }) => token,
    poll: async () => ({
      said: 'completed',
      results: async function* () {
        yield { id: 'https://a.example/one', isOk: true as const, value: { summary: 'short' } };
      },
    }),
    cancel: async () => true,
  };
}

const version = sql<{ version: number }>`SELECT MAX(version) AS version FROM migrations`;

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a ${kind} store of schema 34`, () => {
    const had = localBelongingsIn(kind);

    async function setup(t: Cleanup) {
      const place = openRunner(t);
      const database = kind === 'postgres' ? await copyPostgres(postgres, 34) : undefined;
      if (database === undefined) copySqlite(place.folder, 34);
      const options: OpenOptions = { data: place.folder, database, pgvector: 'off' };
      const environment: Record<string, string> = {};
      if (database !== undefined) environment.PAWL_DATABASE_URL = database;
      return { place, options, environment };
    }

    test('is migrated, and shows every job, item and batch task as it was', async (t) => {
      const { options } = await setup(t);
      const pawl = await open({ ...options, work: false });
      t.after(() => pawl.close());
      const [row] = await sessionOf(pawl).store.run(version);
      assert.equal(row?.version, migrations.at(-1)?.version);
      const stateOf = async (id: string) => (await (await pawl.job(id)).summary()).state;
      assert.equal(await stateOf(had.done), 'succeeded');
      assert.equal(await stateOf(had.partly), 'succeeded');
      assert.equal(await stateOf(had.failed), 'failed');
      assert.equal(await stateOf(had.paused), 'paused');
      assert.equal(await stateOf(had.queued), 'queued');
      assert.equal(await stateOf(had.canceled), 'canceled');
      assert.equal((await pawl.batchTask(had.task)).state, 'pending');
      const inbox = await pawl.inbox().all();
      assert.deepEqual(
        inbox.map(({ itemId }) => itemId),
        had.inbox,
      );
      assert.equal(await countWithoutCause(sessionOf(pawl).store), 0);
    });

    test('continues where it was, and the doctor finds nothing', async (t) => {
      const { place, options, environment } = await setup(t);
      const pawl = await open({ ...options, batchAdapters: [acme()], batchPollMs: 20 });
      try {
        const paused = await pawl.job(had.paused);
        await paused.resume();
        for (const job of [paused, await pawl.job(had.queued)]) {
          assert.equal((await job.wait()).state, 'succeeded');
        }
        const canceled = await pawl.job(had.canceled);
        assert.equal(await canceled.retry(), 1);
        assert.equal((await canceled.wait()).state, 'succeeded');
        await pawl.retryItems({ itemIds: had.inbox });
        assert.equal((await (await pawl.job(had.failed)).wait()).state, 'failed');
        const isCompleted = async () => (await pawl.batchTask(had.task)).state === 'completed';
        await until(isCompleted, { what: 'the batch task to be completed' });
        const [hit] = await pawl.search('handbook', 'which bird sleeps while it flies');
        assert.match(hit?.text ?? '', /common swift/);
        assert.equal(await countWithoutCause(sessionOf(pawl).store), 0);
      } finally {
        await pawl.close();
      }
      const doctor = ['doctor', '--data', '.', '--json'];
      const { code, stdout } = await place.run(doctor, { environment });
      const findings = stdout.trim().split('\n');
      assert.deepEqual(
        findings.filter((line) => JSON.parse(line).verdict !== 'ok'),
        [],
      );
      assert.equal(code, 0);
    });
  });
}
