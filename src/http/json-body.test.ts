import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertBestMs } from '../../test/support/measure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { readJson } from './json-body.ts';

const seed = 20_241_117;
const read = (text: string, isTrusted = false) =>
  readJson(Buffer.from(text), { parse: JSON.parse, mark: 'a mark', isTrusted });

/** The longest time in which nothing else could run. */
async function stallDuring(work: () => Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    worst = Math.max(worst, (user + system) / 1000);
  });
  await new Promise(setImmediate);
  last = process.cpuUsage();
  await work().catch(() => undefined);
  const { user, system } = process.cpuUsage(last);
  worst = Math.max(worst, (user + system) / 1000);
  clearInterval(timer);
  return worst;
}

/** Bodies of the maximum size, each of a different shape. */
const full = limits.request.bodyBytesMax;
const list = (entry: string, count = Math.floor((full - 40) / (entry.length + 1))) =>
  `{"corpus_name":"s","documents":[${`${entry},`.repeat(count - 1)}${entry}]}`;
const shapes: readonly [title: string, body: string][] = [
  ['millions of empty objects', list('{}')],
  [
    'the maximum number of documents',
    list('{"id":"a","title":"b","text":"c"}', limits.job.itemsMax),
  ],
  ['numbers', list('1')],
  ['empty texts', list('""')],
  ['lists in lists', list('[[]]')],
  ['one long text', list(`{"text":"${'x'.repeat(full - 100)}"}`)],
  ['one long text of escapes', list(`{"text":"${'\\n'.repeat(full / 2 - 100)}"}`)],
  ['one long text of quotes', list(`{"text":"${'\\"'.repeat(full / 2 - 100)}"}`)],
  ['one long text of backslashes', list(`{"text":"${'\\\\'.repeat(full / 2 - 100)}"}`)],
  ['one entry of millions', `{"a":[[${'1,'.repeat(full / 2 - 20)}1]]}`],
  ['millions of fields', `{${'"a":1,'.repeat(full / 6 - 1)}"a":1}`],
  ['a list at the top level', `[${'{},'.repeat(full / 3 - 1)}{}]`],
  ['deep lists', '['.repeat(full)],
  ['deep objects', '{"a":'.repeat(full / 5)],
  ['only spaces', ' '.repeat(full)],
  ['only quotes', '"'.repeat(full)],
  ['only commas', ','.repeat(full)],
];

describe('a JSON body', () => {
  test(`is parsed like JSON.parse, at any slice size (seed ${seed})`, async () => {
    const entry = fc.jsonValue({ maxDepth: 3 });
    const bodies = fc.record({ a: fc.array(entry), 'b"\\': fc.array(entry), c: entry });
    await fc.assert(
      fc.asyncProperty(bodies, fc.boolean(), async (body, isLong) => {
        // Long enough to be sliced.
        const long = Array.from({ length: isLong ? 6000 : 0 }, () => body.a).flat();
        const text = JSON.stringify({ ...body, long }, undefined, 1);
        assert.deepEqual(await read(text), JSON.parse(text));
      }),
      { seed, numRuns: 60 },
    );
  });

  test('with a duplicate list key keeps the last one', async () => {
    const list = (value: number) => JSON.stringify(Array.from({ length: 20_000 }, () => value));
    const body = (await read(`{"a":${list(1)},"a":${list(2)}}`)) as { a: number[] };
    assert.deepEqual([body.a.length, body.a[0]], [20_000, 2]);
  });

  test('with an empty entry between slices is refused', async () => {
    const some = '1,'.repeat(10_001);
    for (const text of [`{"a":[${some}]}`, `{"a":[${some},1]}`, `{"a":[,${some}1]}`]) {
      await assert.rejects(read(text));
    }
  });

  for (const [title, body] of shapes) {
    test(`of the maximum size with ${title} does not block the event loop`, async () => {
      await assertBestMs(limits.loop.stallMs, () => stallDuring(() => read(body)));
    });
  }

  test('beyond its limits is refused with advice, except from a service', async () => {
    await assert.rejects(read(`{"a":[${'{},'.repeat(600_000)}{}]}`), {
      code: 'payload_too_large',
      message: /more than about 1500000 values: split it$/,
    });
    await assert.rejects(read(`{"a":${'['.repeat(70)}${']'.repeat(70)}}`), {
      code: 'bad_request',
      message: /more than 64 levels deep$/,
    });
    const body = (await read(`{"a":[${'{},'.repeat(600_000)}{}]}`, true)) as { a: unknown[] };
    assert.equal(body.a.length, 600_001);
  });
});
