import assert from 'node:assert/strict';
import { defineLifecycle, stepTable } from '../../../src/kernel/lifecycle/item.ts';
import { job } from '../../../src/kernel/lifecycle/job.ts';
import { flip, getDocument } from '../../../src/store/document/documents.ts';
import type { Transaction } from '../../../src/store/driver/database.ts';
import { migrate, migrations } from '../../../src/store/driver/migrate.ts';
import { stateChecks } from '../../../src/store/driver/state-check.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const longer = defineLifecycle([
  ...stepTable.slice(0, -1),
  { step: 'summarized', bit: 8, after: ['indexed'], stage: 'embedding' },
  { step: 'done', bit: 7, after: ['summarized'], stage: 'embedding' },
]);

const setStep = (store: StoreFixture, step: string): Promise<unknown> =>
  store.database.write((transaction) =>
    transaction.run({ text: 'UPDATE items SET step = :step' }, { step }),
  );

export const migrationTests: readonly StoreTest[] = [
  [
    'migrating again changes nothing',
    async (store) => {
      await store.submit();
      const before = await store.state();
      await migrate(store.database, store.lifecycle);
      const applied = await store.rows<{ version: number }>('SELECT version FROM migrations');
      assert.equal(applied.length, migrations.length);
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'a migration that is missing in the middle is applied, and only that one',
    async (store) => {
      const missing = migrations.find(({ name }) => name === 'crawl')?.version ?? 0;
      await store.database.write(async (transaction) => {
        await transaction.run({ text: 'DROP TABLE crawls' });
        await transaction.run({ text: 'DROP TABLE crawl_pages' });
        const text = 'DELETE FROM migrations WHERE version = :missing';
        await transaction.run({ text }, { missing });
      });
      await migrate(store.database, store.lifecycle);
      assert.deepEqual(await store.rows('SELECT * FROM crawls'), []);
      const applied = await store.rows<{ version: number }>('SELECT version FROM migrations');
      assert.equal(applied.length, migrations.length);
    },
  ],
  [
    'documents of an older store have no metadata, and get it with their next submission',
    async (store) => {
      const document = { id: 'd', caller: 'ann', corpus: 'notes', source: 's', content_hash: 'h' };
      const rest = { title: null, language: null, chunk_count: 1, text_bytes: 1, kept_share: 1 };
      const write = (work: (transaction: Transaction) => Promise<unknown>) =>
        store.database.write(work);
      await write((t) => flip(t, { ...document, ...rest, generation_id: 1 }, 1000));
      await write(async (t) => {
        for (const text of [
          'DROP TABLE document_metadata',
          ...['items', 'crawls', 'texts', 'documents'].map(
            (table) => `ALTER TABLE ${table} DROP COLUMN metadata`,
          ),
          "DELETE FROM migrations WHERE name = 'metadata'",
        ]) {
          await t.run({ text });
        }
      });
      await migrate(store.database, store.lifecycle);
      assert.equal((await getDocument(store.database, 'd'))?.metadata, null);
      const metadata = '{"team":"ops"}';
      await write((t) => flip(t, { ...document, ...rest, generation_id: 2, metadata }, 2000));
      assert.equal((await getDocument(store.database, 'd'))?.metadata, metadata);
      const rows = await store.rows<{ text: string }>('SELECT text FROM document_metadata');
      assert.deepEqual(
        rows.map(({ text }) => text),
        ['ops'],
      );
    },
  ],
  [
    'jobs of an older store have worked from their start to their end, or still do',
    async (store) => {
      const added = [
        ...['worked_ms', 'worked_before_ms', 'working_since', 'items_retried', 'attempt'],
        'canceled_at',
      ];
      const [ended, running] = [await store.submit(), await store.submit()];
      const run = (text: string) => store.database.write((t) => t.run({ text }));
      for (const column of added) await run(`ALTER TABLE jobs DROP COLUMN ${column}`);
      await run('ALTER TABLE gates DROP COLUMN held_until');
      await run(`UPDATE jobs SET state = 'canceled', started_at = 1000, ended_at = 5000
        WHERE key = '${ended.key}'`);
      await run(`UPDATE jobs SET state = 'running', started_at = 3000
        WHERE key = '${running.key}'`);
      await run('DELETE FROM migrations WHERE version = 32');
      await migrate(store.database, store.lifecycle);
      const [old, open] = [await store.job(ended.key), await store.job(running.key)];
      assert.deepEqual(
        [old.worked_ms, old.working_since, old.canceled_at, old.attempt],
        [4000, null, 5000, 1],
      );
      assert.deepEqual([open.worked_ms, open.working_since, open.canceled_at], [0, 3000, null]);
    },
  ],
  [
    'a store that a newer Pawl has migrated is refused',
    async (store) => {
      const newest = migrations.at(-1)?.version ?? 0;
      await store.database.write((transaction) =>
        transaction.run(
          {
            text: "INSERT INTO migrations (version, name, item_check) VALUES (:version, 'x', 'x')",
          },
          { version: newest + 1 },
        ),
      );
      await assert.rejects(migrate(store.database, store.lifecycle), { code: 'schema_too_new' });
    },
  ],
  [
    'every step of the table can be stored, and no other',
    async (store) => {
      await store.submit();
      for (const step of store.lifecycle.machine.states) await setStep(store, step);
      await assert.rejects(setStep(store, 'polished'), /check/i);
      assert.equal(
        (await store.rows<{ step: string }>('SELECT step FROM items'))[0]?.step,
        'canceled',
      );
    },
  ],
  [
    'every job state and every wait can be stored, and no other',
    async (store) => {
      await store.submit();
      const set = (text: string) =>
        store.database.write((transaction) => transaction.run({ text }));
      for (const state of job.states) await set(`UPDATE jobs SET state = '${state}'`);
      await assert.rejects(set("UPDATE jobs SET state = 'lost'"), /check/i);
      await assert.rejects(set("UPDATE items SET waits_on = 'luck'"), /check/i);
    },
  ],
  [
    'a state that was added to any table can be stored after the next migration',
    async (store) => {
      const { database, lifecycle } = store;
      await store.submit();
      const write = (text: string) => database.write((transaction) => transaction.run({ text }));
      await write(`INSERT INTO batch_tasks (key, caller, task_type, state, input, submission,
        next_at, created_at, updated_at) VALUES ('k', 'ann', 'x', 'pending', '{}', '{}', 0, 0, 0)`);
      await write(`INSERT INTO sync_sources (caller, corpus, place_caller, place_corpus, name, kind,
        location, options, state, created_at, updated_at)
        VALUES ('ann', 'a', 'ann', 'a', 'docs', 'folder', '/docs', '{}', 'active', 0, 0)`);
      await write(`INSERT INTO sync_runs (source_id, cause, is_plan, state, job_keys, created_at,
        updated_at) VALUES (1, 'request', 0, 'listing', '[]', 0, 0)`);
      assert.equal(stateChecks(lifecycle).length, 7);
      for (const { table, column, states } of stateChecks(lifecycle)) {
        const set = (state: string) => write(`UPDATE ${table} SET ${column} = '${state}'`);
        const refused = `${table}.${column}`;
        await assert.rejects(set('novel'), /check/i, refused);
        await migrate(database, lifecycle, [{ table, column, states: [...states, 'novel'] }]);
        for (const state of ['novel', ...states]) await set(state);
        await migrate(database, lifecycle);
        await assert.rejects(set('novel'), /check/i, refused);
        assert.equal((await store.rows(`SELECT id FROM ${table}`)).length, 1);
      }
    },
  ],
  [
    'a step that was added to the lifecycle can be stored after the next migration',
    async (store) => {
      const { ids } = await store.submit();
      await assert.rejects(setStep(store, 'summarized'), /check/i);
      await migrate(store.database, longer);
      await setStep(store, 'summarized');
      assert.equal((await store.item(ids[0])).step, 'summarized');
      await assert.rejects(setStep(store, 'polished'), /check/i);
      await migrate(store.database, longer);
      await setStep(store, 'summarized');
    },
  ],
  [
    'the store works after its check was replaced, and another session sees the new one',
    async (store) => {
      await migrate(store.database, longer);
      const { key } = await store.submit({ items: 2 });
      await store.finish(await store.claimOne());
      assert.equal((await store.job(key)).items_done, 1);
      if (!store.openAnother) return;
      const other = await store.openAnother();
      await migrate(other, longer);
      await other.write((transaction) =>
        transaction.run({ text: "UPDATE items SET step = 'summarized' WHERE waits_on = 'turn'" }),
      );
    },
  ],
];
