import assert from 'node:assert/strict';
import { listFacetRows } from '../../../src/store/document/contents.ts';
import type { Reader } from '../../../src/store/driver/database.ts';
import { type JobPage, listJobPage } from '../../../src/store/job/views.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

/** The query plan of a read. */
function planOf(store: StoreFixture, read: (reader: Reader) => Promise<unknown>): Promise<string> {
  return store.database.write(async (transaction) => {
    const isPostgres = transaction.dialect.name === 'postgres';
    // A scan of so small a table costs less than any index.
    if (isPostgres) await transaction.run({ text: 'SET LOCAL enable_seqscan = off' });
    const explain = isPostgres ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
    const reader: Reader = {
      run: ({ text }, parameters) => transaction.run({ text: `${explain} ${text}` }, parameters),
    };
    return JSON.stringify(await read(reader));
  });
}

/** The query plan for the jobs of a page. */
function planOfPage(store: StoreFixture, page: Partial<JobPage>): Promise<string> {
  const all = { caller: 'ann', before: 99, limit: 9, ...page };
  return planOf(store, (reader) => listJobPage(reader, all));
}

export const tableTests: readonly StoreTest[] = [
  [
    'no table has a column for a tenant',
    async (store) => {
      const text =
        store.database.dialect.name === 'postgres'
          ? 'SELECT column_name AS name FROM information_schema.columns'
          : `SELECT columns.name FROM sqlite_master AS tables
             JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`;
      const names = (await store.rows<{ name: string }>(text)).map(({ name }) => name);
      assert.ok(names.includes('caller'), 'the columns are listed');
      assert.deepEqual(
        names.filter((name) => /tenant/i.test(name)),
        [],
      );
    },
  ],
  [
    'what the facets count is found by the ids of the documents',
    async (store) => {
      const plan = await planOf(store, (reader) => listFacetRows(reader, ['d1', 'd2']));
      assert.match(plan, /sqlite_autoindex_documents_1|documents_pkey/);
      assert.doesNotMatch(plan, /SCAN documents|Seq Scan on documents/);
    },
  ],
  [
    'the jobs of a caller in a state are found by their index',
    async (store) => {
      assert.match(await planOfPage(store, { state: 'running' }), /jobs_caller_state/);
    },
  ],
  [
    'the jobs of a caller that failed in a stage are found by their index',
    async (store) => {
      assert.match(await planOfPage(store, { failedStage: 'scraping' }), /jobs_failed_stage/);
    },
  ],
];
