/** Job views shared by orchestrators, in a real Redis with outages. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { realWorld } from '../../src/app/world.ts';
import { CommitSignal } from '../../src/engine/commit-signal.ts';
import { Relay } from '../../src/engine/relay.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { Event } from '../../src/observe/event.ts';
import { makeLog } from '../../src/observe/log.ts';
import { openHotStore } from '../../src/redis/hot-store.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { openBench } from '../e2e/api-client.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { TestWorld } from '../support/test-world.ts';
import { until } from '../support/wait.ts';

let redis: Redis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

async function open(t: TestContext, url = redis.url, commandTimeoutMs = 20_000) {
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  const store = await openHotStore({ url, world: realWorld(), log, commandTimeoutMs });
  t.after(() => store.close());
  return { store, lines };
}

const view = (version: number, body = `as of ${version}`) => ({ version, body });

describe('a view of a job', () => {
  test('that is written late does not replace a newer one', async (t) => {
    const { store } = await open(t);
    assert.equal(await store.read('late'), undefined);
    assert.equal(await store.write('late', view(7)), true);
    assert.equal(await store.write('late', view(6)), false);
    assert.deepEqual(await store.read('late'), view(7));
    assert.equal(await store.write('late', view(7, 'looked after')), true);
    assert.equal(await store.write('late', view(10)), true, 'ten is more than seven');
    assert.equal(await store.write('late', view(9)), false);
    assert.deepEqual(await store.read('late'), view(10));
  });

  test('is the newest of many concurrent writes', async (t) => {
    const stores = await Promise.all([open(t), open(t), open(t)]);
    const versions = Array.from({ length: 300 }, (_, at) => (at * 7919) % 300);
    await Promise.all(
      versions.map((version, at) => stores[at % 3]?.store.write('race', view(version))),
    );
    assert.deepEqual(await stores[0]?.store.read('race'), view(299));
  });

  test('expires, and is not stored if it is too large', async (t) => {
    const { store } = await open(t);
    const client = new Client(redis.url);
    t.after(() => client.disconnect());
    await store.write('ending', view(1));
    const ttlMs = await client.pttl('pawl:view:ending');
    assert.ok(ttlMs > 0 && ttlMs <= limits.hotView.ttlMs);
    const large = 'x'.repeat(limits.hotView.bodyCharactersMax + 1);
    assert.equal(await store.write('large', view(1, large)), false);
    assert.deepEqual([...(await store.versions(['ending', 'large', 'absent']))], [['ending', 1]]);
  });
});

describe('when Redis is away', () => {
  test('nothing waits for it, it is logged once, and it is used when it is back', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const { store, lines } = await open(t, own.url);
    await store.write('a', view(1));
    process.kill(own.pid, 'SIGKILL');
    await until(async () => (await store.read('a')) === 'away', { what: 'the loss to be seen' });
    assert.equal(await store.write('a', view(2)), false);
    assert.equal((await store.versions(['a'])).size, 0);
    store.ring();
    await own.restart('immediate');
    const isBack = () => store.write('a', view(2));
    await until(isBack, { what: 'Redis to be used again' });
    assert.deepEqual(
      lines.map((line) => line.replace(/\(.*\)/, '()')),
      [
        'pawl: warn: Redis of the state of jobs is away (); nothing is lost, and it is tried again',
        'pawl: warn: Redis of the state of jobs is back',
      ],
    );
  });

  test('or hangs, it is called once and then skipped for a while', async (t) => {
    const own = await startRedis();
    t.after(() => {
      process.kill(own.pid, 'SIGCONT');
      return own.stop();
    });
    const commandTimeoutMs = 1_000;
    const { store } = await open(t, own.url, commandTimeoutMs);
    process.kill(own.pid, 'SIGSTOP');
    assert.equal(await store.read('a'), 'away');
    const startedAt = performance.now();
    for (let time = 0; time < 100; time += 1) assert.equal(await store.read('a'), 'away');
    const waitedMs = performance.now() - startedAt;
    assert.ok(waitedMs < 50 * commandTimeoutMs, `every read waited for Redis: ${waitedMs} ms`);
  });
});

describe('news', () => {
  test('is signaled to others, not to its process, and again after Redis was killed', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const [a, b] = [await open(t, own.url), await open(t, own.url)];
    const heard = { a: 0, b: 0 };
    a.store.listen(() => (heard.a += 1));
    b.store.listen(() => (heard.b += 1));
    const ringUntilHeard = (what: string): Promise<unknown> => {
      const { b: before } = heard;
      const isHeard = () => {
        a.store.ring();
        return heard.b > before;
      };
      return until(isHeard, { what });
    };
    await ringUntilHeard('the first ring');
    await own.restart('immediate');
    await ringUntilHeard('a ring after the restart');
    assert.equal(heard.a, 0);
  });

  test('of one process is read by another immediately, not at its next poll', async (t) => {
    const postgres = await startPostgres({ durable: false });
    t.after(() => postgres.stop());
    const databaseUrl = await postgres.createDatabase();
    const bench = await openBench(t, { database: databaseUrl, work: false, hotUrl: redis.url });
    const database = await openPostgres({ url: databaseUrl });
    t.after(() => database.close());
    // No time passes for it, so that it never polls.
    const world = new TestWorld();
    const relay = new Relay({
      database,
      world,
      commitSignal: new CommitSignal(),
      onError: assert.fail,
    });
    t.after(() => relay.close());
    const { store } = await open(t);
    store.listen(() => relay.wake());
    const heard: Event[] = [];
    await relay.listen((events) => void heard.push(...events));
    // A signal may come before Redis has the subscription, or be lost on a busy machine.
    const isHeard = async () => {
      await bench.submit({ corpus_name: 'a', documents: [{ id: 'cat', text: 'The cat sleeps.' }] });
      return heard.length > 0;
    };
    await until(isHeard, { what: 'the news' });
    assert.equal(heard[0]?.kind, 'job_accepted');
    // A late signal would make it read while Postgres stops.
    await relay.close();
  });
});
