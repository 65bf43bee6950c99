/** Lists that are read page by page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ListOptions, listOf, type PageForm, type PageQuery } from './list.ts';

function setup(size: number, options: ListOptions = {}, form: PageForm = { pageMax: 10 }) {
  const asked: PageQuery[] = [];
  const list = listOf(
    async (query) => {
      asked.push(query);
      const { limit = 5, cursor = '0' } = query;
      const end = Math.min(Number(cursor) + limit, size);
      const items = Array.from({ length: end - Number(cursor) }, (_, at) => Number(cursor) + at);
      return { items, nextCursor: end < size ? String(end) : null };
    },
    options,
    form,
  );
  return { list, asked };
}

describe('a list', () => {
  test('yields every entry, page by page, and reads nothing before', async () => {
    const { list, asked } = setup(25);
    assert.deepEqual(asked, []);
    assert.deepEqual(
      await list.all(),
      Array.from({ length: 25 }, (_, at) => at),
    );
    assert.deepEqual(
      asked.map(({ cursor }) => cursor),
      [undefined, '10', '20'],
    );
  });

  test('yields no more than its limit, and stops reading when the loop ends', async () => {
    const { list, asked } = setup(100, { limit: 13 });
    assert.equal((await list.all()).length, 13);
    assert.deepEqual(
      asked.map(({ limit }) => limit),
      [10, 3],
    );
    const broken = setup(100);
    for await (const entry of broken.list) if (entry === 2) break;
    assert.equal(broken.asked.length, 1);
  });

  test('gives one page, and the cursor of the next', async () => {
    const { list } = setup(7);
    const first = await list.page({ limit: 4 });
    assert.deepEqual(first, { items: [0, 1, 2, 3], nextCursor: '4' });
    const last = await list.page({ cursor: first.nextCursor ?? '' });
    assert.deepEqual(last, { items: [4, 5, 6], nextCursor: null });
  });

  test('without a cursor is asked for as a whole', async () => {
    const { list, asked } = setup(5, {}, { pageMax: 1000, isWhole: true });
    assert.equal((await list.all()).length, 5);
    assert.equal(asked[0]?.limit, 1000);
    const beyond = setup(5, { limit: 5000 }, { pageMax: 1000, isWhole: true });
    await beyond.list.all();
    assert.equal(beyond.asked[0]?.limit, 5000, 'the contract refuses it; it is not capped');
  });

  test('refuses a limit that is no whole number above 0', async () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await assert.rejects(setup(3, { limit }).list.all(), { code: 'bad_request' });
    }
  });

  test('throws the reason of its signal between two entries', async () => {
    const controller = new AbortController();
    const { list } = setup(9, { signal: controller.signal });
    const seen: number[] = [];
    const reading = (async () => {
      for await (const entry of list) {
        seen.push(entry);
        if (entry === 1) controller.abort(new Error('enough'));
      }
    })();
    await assert.rejects(reading, { message: 'enough' });
    assert.deepEqual(seen, [0, 1]);
  });
});
