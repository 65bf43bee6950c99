/** Texts, inputs and fetched bytes are stored compressed, also those of an older store. */
import assert from 'node:assert/strict';
import { packOld } from '../../../src/engine/item/sweeper.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { bytesInRow, getFetch, writeFetch } from '../../../src/store/crawl/fetches.ts';
import { getText, writeText } from '../../../src/store/document/documents.ts';
import { packOldRows } from '../../../src/store/document/packing-of-old-rows.ts';
import { migrate } from '../../../src/store/driver/migrate.ts';
import { getInput } from '../../../src/store/item/items.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import type { StoreFixture } from '../../support/store-fixture.ts';

const bodyOf = (number: number): string => `Fähre ${number}: the walrus sleeps. `.repeat(60);

/** More than one transaction packs. */
const many = limits.packing.rowsMax + 5;

async function write(store: StoreFixture, count: number): Promise<readonly number[]> {
  const { ids } = await store.submit({
    sources: Array.from({ length: count }, (_, index) => {
      const input = { kind: 'markdown' as const, title: null, body: bodyOf(index) };
      return { kind: 'inline', source: `page-${index}`, input };
    }),
  });
  const row = { title: null, language: null, content_hash: 'h', meta: '{}' };
  const fetched = { blob_key: 'k', media_type: 'text/html', bytes: 1, charset: null };
  await store.database.write(async (transaction) => {
    for (const [index, id] of ids.entries()) {
      const body = bodyOf(index);
      const text = { ...row, generation_id: id, document_id: `d${index}`, body };
      await writeText(transaction, text, 1000);
      const stored = { ...fetched, generation_id: id, body: Buffer.from(body), packed: null };
      await writeFetch(transaction, stored);
    }
  });
  return ids;
}

/** As the version before wrote it, and migrated since. */
async function makeOld(store: StoreFixture, ids: readonly number[]): Promise<void> {
  await store.database.write(async (transaction) => {
    for (const [index, id] of ids.entries()) {
      for (const [table, key] of [
        ['texts', 'generation_id'],
        ['inputs', 'item_id'],
      ]) {
        const text = `UPDATE ${table} SET body = :body WHERE ${key} = :id`;
        await transaction.run({ text }, { body: bodyOf(index), id });
      }
    }
    for (const table of ['texts', 'fetches', 'inputs']) {
      await transaction.run({ text: `ALTER TABLE ${table} DROP COLUMN packed` });
    }
    await transaction.run({ text: "DELETE FROM migrations WHERE name = 'packing'" });
  });
  await migrate(store.database, store.lifecycle);
}

async function read({ database }: StoreFixture, ids: readonly number[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const id of ids) {
    const row = await getFetch(database, id);
    const bytes = row && bytesInRow(row);
    const [text, input] = [await getText(database, id), await getInput(database, id)];
    all.push([text?.body, input?.body, bytes && Buffer.from(bytes).toString()]);
  }
  return all;
}

const countPacked = async (store: StoreFixture, table: string): Promise<number> => {
  const text = `SELECT COUNT(*) AS count FROM ${table} WHERE packed IS NOT NULL
    AND (body IS NULL OR length(body) = 0)`;
  return (await store.rows<{ count: number }>(text))[0]?.count ?? 0;
};

async function allPacked(store: StoreFixture): Promise<number[]> {
  const tables = ['texts', 'fetches', 'inputs'];
  return Promise.all(tables.map((table) => countPacked(store, table)));
}

const expected = (count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => Array(3).fill(bodyOf(index)));

export const packingTests: readonly EngineTest[] = [
  [
    'texts and inputs are stored compressed, and read as they were',
    async ({ store }) => {
      const ids = await write(store, 2);
      assert.deepEqual(await allPacked(store), [2, 0, 2]);
      assert.deepEqual(await read(store, ids), expected(2));
    },
  ],
  [
    'rows of an older store are packed in bounded steps, and read as before at each of them',
    async ({ store }) => {
      const ids = await write(store, many);
      await makeOld(store, ids);
      assert.deepEqual(await allPacked(store), [0, 0, 0]);
      assert.deepEqual(await read(store, ids), expected(many));
      const step = () => store.database.write((transaction) => packOldRows(transaction));
      assert.equal(await step(), limits.packing.rowsMax);
      assert.deepEqual(await read(store, ids), expected(many));
      // A crash in the middle of a step.
      const dying = store.database.write(async (transaction) => {
        await packOldRows(transaction);
        throw new Error('died');
      });
      await assert.rejects(dying, /died/);
      assert.deepEqual(await allPacked(store), [limits.packing.rowsMax, 0, 0]);
      await packOld(store.database);
      assert.deepEqual(await allPacked(store), [many, many, many]);
      assert.deepEqual(await read(store, ids), expected(many));
      const cursors = await store.rows("SELECT name FROM cursors WHERE name LIKE 'pack:%'");
      assert.deepEqual(cursors, []);
    },
  ],
  [
    'a running engine packs the rows of an older store in the background',
    async (bench: EngineFixture) => {
      const { store, world } = bench;
      const ids = await write(store, 3);
      await makeOld(store, ids);
      await bench.start();
      await world.advance(limits.loop.sweepIntervalMs);
      assert.equal(await countPacked(store, 'texts'), 3);
    },
  ],
];
