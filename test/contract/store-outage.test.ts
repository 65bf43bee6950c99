/** A server outage fails nothing permanently: interrupted work may be retried. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open } from '../../src/index.ts';
import { toFailure } from '../../src/kernel/failure/failure.ts';
import type { Database, Transaction } from '../../src/store/driver/database.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const one = sql<{ one: number }>`SELECT 1 AS one`;

let server: Postgres;
let database: Database;

before(async () => {
  server = await startPostgres();
  database = await openPostgres({ url: server.url });
});

after(async () => {
  await database.close();
  await server.stop();
});

type Moment = (transaction: Transaction, goAway: () => Promise<void>) => Promise<unknown>;

const moments: Readonly<Record<string, Moment>> = {
  'before the first statement': async (transaction, goAway) => {
    await goAway();
    return transaction.run(one);
  },
  'between two statements': async (transaction, goAway) => {
    await transaction.run(one);
    await goAway();
    return transaction.run(one);
  },
  'during a statement': async (transaction, goAway) => {
    const slow = transaction.run(sql`SELECT pg_sleep(60)`);
    await Promise.all([assert.rejects(slow), goAway()]);
    return slow;
  },
  'before the commit': async (transaction, goAway) => {
    await transaction.run(one);
    await goAway();
  },
};

for (const mode of ['fast', 'immediate'] as const) {
  for (const [moment, work] of Object.entries(moments)) {
    test(`a server that ends (${mode}) ${moment} is a retryable failure`, async () => {
      const writing = database.write((transaction) =>
        work(transaction, () => server.restart(mode)),
      );
      await assert.rejects(writing, (error) => {
        assert.equal(toFailure(error).code, 'store_busy', String(error));
        return true;
      });
      assert.deepEqual(await database.write((transaction) => transaction.run(one)), [{ one: 1 }]);
    });
  }
}

test('a missing database or user is reported as such, and is not a defect', async () => {
  const { url } = server;
  for (const [wrong, what] of [
    [url.replace(/[^/]+$/, 'nowhere'), /database "nowhere" does not exist; correct the address/],
    [url.replace('//pawl@', '//nobody@'), /role "nobody" does not exist; correct the address/],
  ] as const) {
    await assert.rejects(openPostgres({ url: wrong }), { code: 'usage_error', message: what });
  }
});

test('a process can stop while its server is away', async (t) => {
  const elsewhere = await startPostgres();
  const told: string[] = [];
  const onError = (what: string): void => void told.push(what);
  const pawl = await open({ data: temporaryDirectory(t), database: elsewhere.url, onError });
  await pawl.work();
  await elsewhere.stop();
  await pawl.close();
  assert.ok(told.length > 0, 'the failed unregistration is reported');
});

test('an unreachable server is a retryable failure', async () => {
  const elsewhere = await startPostgres();
  const away = await openPostgres({ url: elsewhere.url });
  await elsewhere.stop();
  await assert.rejects(
    away.write((transaction) => transaction.run(one)),
    (error) => toFailure(error).code === 'store_busy',
  );
  await assert.rejects(away.run(one), (error) => toFailure(error).code === 'store_busy');
  // The first query of a heartbeat.
  await assert.rejects(away.measureClock(), (error) => toFailure(error).code === 'store_busy');
  await away.close();
});
