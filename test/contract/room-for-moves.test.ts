/** Moves of items on Postgres while another transaction keeps old versions of rows from removal. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { leaseOf } from '../../src/engine/item/ledger.ts';
import { item as lifecycle } from '../../src/kernel/lifecycle/item.ts';
import { patience } from '../support/patience.ts';
import { PostgresStores } from '../support/postgres-stores.ts';
import type { StoreFixture } from '../support/store-fixture.ts';

const stores = new PostgresStores({ settings: { autovacuum: 'off' } });
before(() => stores.start());
after(() => stores.stop());

const pagesOf = (store: StoreFixture): Promise<{ id: number; page: number }[]> =>
  store.rows('SELECT id, (ctid::text::point)[0] AS page FROM items ORDER BY id');

/** It has a number, so rows that others replace from now on may be visible to it. */
async function beginTransaction(store: StoreFixture): Promise<() => Promise<void>> {
  const [server] = await store.rows<{ url: string }>(`SELECT 'postgres://' || current_user ||
    '@127.0.0.1:' || inet_server_port() || '/' || current_database() AS url`);
  const client = new pg.Client({ connectionString: server?.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT pg_current_xact_id()');
  return () => client.end();
}

test('items move twice on the pages of their rows while another commit runs', {
  timeout: patience.testMs,
}, async (t) => {
  const store = await stores.open(t);
  await store.submit({ items: 200 });
  const rows = await store.claim(200);
  const before = await pagesOf(store);
  const end = await beginTransaction(store);
  let expect = 0;
  for (const step of ['fetched', 'content_extracted']) {
    const progress = lifecycle.reach(expect, step);
    const reports = rows.map((row) => ({
      lease: leaseOf(row, 'worker'),
      expect,
      move: { to: 'advance' as const, progress },
      events: [],
    }));
    const verdicts = await store.apply(reports);
    assert.deepEqual(new Set(verdicts), new Set(['applied']));
    expect = progress;
  }
  await end();
  assert.deepEqual(await pagesOf(store), before);
});
