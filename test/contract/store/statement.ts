import assert from 'node:assert/strict';
import { type Statement, sql, sqlRows } from '../../../src/store/driver/statement.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const createThings = sql`CREATE TABLE things (id {id}, name TEXT, size {int}, weight {real},
  body {bytes}, detail {json})`;
const insertThing = sqlRows({
  id: 'int',
  name: 'text',
  size: 'int',
  weight: 'real',
  body: 'bytes',
  detail: 'json',
})<{ id: number }>`
  INSERT INTO things (id, name, size, weight, body, detail)
  SELECT :id, :name, :size, :weight, :body, :detail {rows} RETURNING id`;
const resizeThing = sqlRows({ id: 'int', size: 'int' })<{ id: number }>`
  UPDATE things SET size = :size {rows} WHERE things.id = :id AND things.size < :size
  RETURNING things.id`;
const removeThing = sqlRows({ id: 'int' })`DELETE FROM things {rows} WHERE things.id = :id`;

const thing = (id: number, size = id * 10) => ({
  id,
  name: `thing {"${id}", 'NULL'} \\x ,\n`,
  size,
  weight: 0.5,
  body: new Uint8Array([0, 1, 255]),
  detail: JSON.stringify({ id }),
});

async function withThings(store: StoreFixture, count: number): Promise<void> {
  await store.database.write(async (transaction) => {
    await transaction.run(createThings);
    await transaction.each(
      insertThing,
      Array.from({ length: count }, (_, index) => thing(index + 1)),
    );
  });
}

const sizes = (store: StoreFixture): Promise<{ id: number; size: number }[]> =>
  store.rows('SELECT id, size FROM things ORDER BY id');

export const statementTests: readonly StoreTest[] = [
  [
    'a parameter that stands twice is given once',
    async ({ database }) => {
      const statement: Statement<{ twice: string; absent: string | null }> = sql`
        SELECT CAST(:word AS TEXT) || CAST(:word AS TEXT) AS twice, CAST(:gone AS TEXT) AS absent`;
      const rows = await database.run(statement, { word: 'ha', gone: null });
      assert.deepEqual({ ...rows[0] }, { twice: 'haha', absent: null });
    },
  ],
  [
    'a parameter that is not given throws, and is never NULL',
    async (store) => {
      await withThings(store, 1);
      const { database } = store;
      const missing = (name: string) => new RegExp(`the parameter :${name} is missing in`);
      const one = sql`UPDATE things SET size = :size WHERE id = :id`;
      const many = sqlRows({ id: 'int' })`
        UPDATE things SET size = :size {rows} WHERE things.id = :id`;
      const counted = sqlRows({ id: 'int' })<{ id: number }>`
        UPDATE things SET size = :size {rows} WHERE things.id = :id RETURNING things.id`;
      const undefinedId = [{ id: undefined as unknown as number }];
      await assert.rejects(database.run(one, { id: 1 }), missing('size'));
      const declared = sql<never, 'id' | 'size'>`UPDATE things SET size = :size WHERE id = :id`;
      // @ts-expect-error: a declared name is missing
      await assert.rejects(database.run(declared, { id: 1 }), missing('size'));
      await assert.rejects(database.run(one), missing('size'));
      for (const run of [
        (rows: { id: number }[], same?: { size: number }) =>
          database.write((transaction) => transaction.each(many, rows, same)),
        (rows: { id: number }[], same?: { size: number }) =>
          database.write((transaction) => transaction.hits(counted, rows, same)),
      ]) {
        await assert.rejects(run([{ id: 1 }]), missing('size'));
        await assert.rejects(run(undefinedId, { size: 1 }), missing('id'));
      }
      assert.deepEqual(
        (await sizes(store)).map(({ size }) => size),
        [10],
      );
    },
  ],
  [
    'a value is never read as SQL',
    async (store) => {
      await withThings(store, 1);
      const name = "x'); DROP TABLE things; --";
      const found = await store.rows('SELECT id FROM things WHERE name = :name', { name });
      assert.deepEqual(found, []);
      assert.equal((await sizes(store)).length, 1);
    },
  ],
  [
    'a cast and a time of day are not read as parameters',
    async ({ database }) => {
      const rows = await database.run(sql<{ time: string }>`SELECT '12:30' AS time`);
      assert.equal(rows[0]?.time, '12:30');
    },
  ],
  [
    'every type of column is read as it was written, JSON as text',
    async (store) => {
      await withThings(store, 1);
      const [row] = await store.rows<ReturnType<typeof thing>>('SELECT * FROM things');
      assert.equal(row?.name, thing(1).name);
      assert.equal(row?.size, 10);
      assert.equal(row?.weight, 0.5);
      assert.deepEqual([...(row?.body ?? [])], [0, 1, 255]);
      assert.deepEqual(JSON.parse(row?.detail ?? ''), { id: 1 });
    },
  ],
  [
    'neighboring rows with equal, absent and similar values keep their own',
    async (store) => {
      await withThings(store, 0);
      const names = ['NULL', 'NULL', null, null, '', '', '"', '"', '\\', '\\', 'a', 'a'];
      const rows = names.map((name, index) => ({ ...thing(index), name, size: index >> 1 }));
      await store.database.write((transaction) => transaction.each(insertThing, rows));
      const found = await store.rows<{ name: string | null; size: number }>(
        'SELECT name, size FROM things ORDER BY id',
      );
      assert.deepEqual(
        found.map(({ name, size }) => [name, size]),
        rows.map(({ name, size }) => [name, size]),
      );
    },
  ],
  [
    'whole numbers beyond 32 bits are read as numbers',
    async (store) => {
      await withThings(store, 0);
      await store.database.write((transaction) =>
        transaction.each(insertThing, [thing(1, 2 ** 52 + 1)]),
      );
      assert.equal((await sizes(store))[0]?.size, 2 ** 52 + 1);
    },
  ],
  [
    'a statement over many rows runs for each, and returns all results',
    async (store) => {
      await withThings(store, 0);
      const rows = await store.database.write((transaction) =>
        transaction.each(insertThing, [thing(3), thing(1), thing(2)]),
      );
      assert.deepEqual(rows.map(({ id }) => id).sort(), [1, 2, 3]);
    },
  ],
  [
    'hits say for each row, in order, whether it changed something',
    async (store) => {
      await withThings(store, 3);
      const changes = [3, 9, 1].map((id) => ({ id, size: id === 1 ? 5 : 99 }));
      const hits = await store.database.write((transaction) =>
        transaction.hits(resizeThing, changes),
      );
      assert.deepEqual(hits, [true, false, false]);
      assert.deepEqual(
        (await sizes(store)).map(({ size }) => size),
        [10, 20, 99],
      );
    },
  ],
  [
    'a delete over many rows deletes those rows and no others',
    async (store) => {
      await withThings(store, 3);
      await store.database.write((transaction) =>
        transaction.each(removeThing, [{ id: 1 }, { id: 3 }, { id: 7 }]),
      );
      assert.deepEqual(
        (await sizes(store)).map(({ id }) => id),
        [2],
      );
    },
  ],
  [
    'an empty list of rows is no work and no error',
    async (store) => {
      await withThings(store, 1);
      await store.database.write(async (transaction) => {
        assert.deepEqual(await transaction.each(insertThing, []), []);
        assert.deepEqual(await transaction.hits(resizeThing, []), []);
      });
    },
  ],
  [
    'on Postgres, the rows of a statement are read as they come, and not stored before',
    async (store) => {
      // SQLite runs the statement once for each row.
      if (store.database.dialect.name !== 'postgres') return;
      await withThings(store, 1);
      const explain = sqlRows({ id: 'int', size: 'int' })<{ 'QUERY PLAN': string }>`
        EXPLAIN UPDATE things SET size = :size {rows} WHERE things.id = :id`;
      const plan = await store.database.write((transaction) =>
        transaction.each(explain, [{ id: 1, size: 2 }]),
      );
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(text, /ProjectSet/);
      assert.doesNotMatch(text, /Function Scan/);
    },
  ],
  [
    'ids are found in a list by the fact amongIds, also in an empty one',
    async (store) => {
      await withThings(store, 4);
      const among = sql<{ id: number }>`SELECT id FROM things WHERE id {amongIds} ORDER BY id`;
      const found = await store.database.run(among, { ids: '[4, 2, 8]' });
      assert.deepEqual(
        found.map(({ id }) => id),
        [2, 4],
      );
      assert.deepEqual(await store.database.run(among, { ids: '[]' }), []);
    },
  ],
];
