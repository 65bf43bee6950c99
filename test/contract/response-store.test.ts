/** Responses on their way, in a real Redis that goes away. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { limits } from '../../src/kernel/limits/limits.ts';
import { makeLog } from '../../src/observe/log.ts';
import { openResponseStore } from '../../src/redis/response-store.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';

let redis: Redis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

async function open(t: TestContext, url = redis.url) {
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  // On a busy machine a command may take longer than the usual limit.
  const kept = await openResponseStore({ url, log, commandTimeoutMs: 20_000 });
  t.after(() => kept.close());
  return { kept, lines };
}

describe('a response on its way', () => {
  test('is found by another worker until it is removed or expires', async (t) => {
    const [{ kept: one }, { kept: other }] = await Promise.all([open(t), open(t)]);
    assert.equal(await other.read('token'), undefined);
    await one.write('token', 'paid for');
    assert.equal(await other.read('token'), 'paid for');
    const client = new Client(redis.url);
    t.after(() => client.disconnect());
    const ttlMs = await client.pttl('pawl:answer:token');
    assert.ok(ttlMs > 0 && ttlMs <= limits.handoff.softMs, `${ttlMs} ms`);
    await other.remove('token');
    assert.equal(await one.read('token'), undefined);
  });

  test('is not stored if it is too large', async (t) => {
    const { kept } = await open(t);
    await kept.write('large', 'x'.repeat(limits.handoff.keptCharactersMax + 1));
    assert.equal(await kept.read('large'), undefined);
  });

  test('is not stored while Redis is away, which is logged once, and nothing waits', async (t) => {
    const own = await startRedis();
    const { kept, lines } = await open(t, own.url);
    await kept.write('token', 'paid for');
    await own.stop();
    await until(() => lines.length > 0, { what: 'the loss to be seen' });
    await kept.write('other', 'lost');
    assert.equal(await kept.read('token'), undefined);
    await kept.remove('token');
    assert.equal(lines.length, 1);
  });
});
