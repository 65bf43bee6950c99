/** What several processes count and cache together, in a real Redis with outages. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { makeAudit } from '../../src/access/audit.ts';
import { RedisLink } from '../../src/access/limit/redis.ts';
import { RedisWindow } from '../../src/access/limit/redis-window.ts';
import { MemoryWindow, type RateWindow } from '../../src/access/limit/window.ts';
import { assembleAccess } from '../../src/app/adapter/access.ts';
import { makeLog } from '../../src/observe/log.ts';
import { hashed, openFixture, withMembership } from '../support/access-fixture.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { TestWorld } from '../support/test-world.ts';
import { until } from '../support/wait.ts';
import { windowTests } from './rate-window-suite.ts';

const claim = { callerId: 'a', limit: 10, windowMs: 3_600_000, isSharing: true };

let redis: Redis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

async function setup(t: TestContext, url = redis.url) {
  const world = new TestWorld();
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  /** On a busy machine a response may be late: only a test of that uses the usual timeout. */
  const openLink = async (commandTimeoutMs: number | undefined = 20_000): Promise<RedisLink> => {
    const now = () => world.now();
    const link = new RedisLink({ url, world, log, now, commandTimeoutMs });
    t.after(() => link.close());
    await link.settled();
    return link;
  };
  const client = new Client(redis.url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  await client.flushall();
  return { world, lines, openLink, client };
}

const allowedOf = async (windows: readonly RateWindow[], each: number): Promise<number> => {
  const asking = windows.flatMap((window) =>
    Array.from({ length: each }, () => window.take(claim)),
  );
  return (await Promise.all(asking)).filter(({ isAllowed }) => isAllowed).length;
};

describe('a window in Redis', () => {
  for (const [title, run] of windowTests) {
    test(title, async (t) => {
      const { world, lines, openLink } = await setup(t);
      const link = await openLink();
      let opened = 0;
      const open = () => {
        opened += 1;
        return new RedisWindow({
          link,
          pool: `pool-${opened}`,
          near: new MemoryWindow(world),
          now: () => world.now(),
          writer: `writer-${opened}`,
        });
      };
      await run({ world, open, runs: 30 });
      assert.deepEqual(lines, [], 'Redis was available all the time');
    });
  }

  test('is the same for all processes: together they let exactly the limit through', async (t) => {
    const { world, openLink } = await setup(t);
    const links = await Promise.all([openLink(), openLink(), openLink()]);
    const windows = links.map((link) => link.windowFor('jobs', new MemoryWindow(world)));
    assert.equal(await allowedOf(windows, 20), 10);
  });

  test('uses the clock of Redis, and its keys expire with the window', async (t) => {
    const { world, client } = await setup(t);
    const log = makeLog('silent', () => undefined);
    const link = new RedisLink({ url: redis.url, world, log, commandTimeoutMs: 20_000 });
    t.after(() => link.close());
    await link.settled();
    await link.windowFor('jobs', new MemoryWindow(world)).take(claim);
    const keys = (await client.keys('*')).sort();
    assert.deepEqual(keys, ['pawl:{jobs}:callers', 'pawl:{jobs}:rate:a']);
    for (const key of keys) {
      const ttlMs = await client.pttl(key);
      assert.ok(ttlMs > 3_500_000 && ttlMs <= 3_600_000, `${key}: ${ttlMs} ms`);
      const [, score] = await client.zrange(key, 0, 0, 'WITHSCORES');
      const [seconds] = await client.time();
      assert.ok(Math.abs(Number(score) / 1000 - Number(seconds)) < 60, `${key}: ${score}`);
    }
  });
});

describe('when Redis is away', () => {
  test('each process continues counting from its own requests, and logs that once', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const { world, lines, openLink } = await setup(t, own.url);
    const link = await openLink();
    const window = link.windowFor('jobs', new MemoryWindow(world));
    assert.equal(await allowedOf([window], 4), 4);
    await own.stop();
    assert.equal(await allowedOf([window], 20), 6);
    assert.equal(window.activeCallers('b'), 2);
    // A command may fail before the end of the connection is seen.
    await until(() => !link.status.isReady, { what: 'the end of the connection to be seen' });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^pawl: warn: Redis is away \(.*\); each process counts/);
  });

  test('it survives a crash of Redis: the connection comes back', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const { world, lines, openLink } = await setup(t, own.url);
    const link = await openLink();
    const window = link.windowFor('jobs', new MemoryWindow(world));
    await own.restart('immediate');
    const isBack = async () => {
      await window.take(claim);
      return lines.length === 2;
    };
    await until(isBack, { what: 'Redis to be used again' });
    assert.match(lines[1] ?? '', /Redis is back/);
  });

  test('no caller is unlimited, and Redis counts again when it is back', async (t) => {
    const own = await startRedis();
    t.after(() => {
      // A stopped process would not receive the signal to end.
      process.kill(own.pid, 'SIGCONT');
      return own.stop();
    });
    const { world, lines, openLink } = await setup(t, own.url);
    // Long enough that no command on a busy machine exceeds it.
    const commandTimeoutMs = 3_000;
    const link = await openLink(commandTimeoutMs);
    const window = link.windowFor('jobs', new MemoryWindow(world));
    assert.equal(await allowedOf([window], 4), 4);
    process.kill(own.pid, 'SIGSTOP');
    // The connection is open, but nothing arrives: commands end by their own timeout.
    const asked = 20;
    const stoppedAt = performance.now();
    assert.equal(await allowedOf([window], asked), 6);
    const waitedMs = performance.now() - stoppedAt;
    assert.ok(waitedMs < (asked * commandTimeoutMs) / 2, `all waited for Redis: ${waitedMs} ms`);
    assert.equal(link.status.circuit, 'open');
    const openedAt = performance.now();
    for (let time = 0; time < asked; time += 1) assert.equal(await allowedOf([window], 1), 0);
    const openMs = performance.now() - openedAt;
    assert.ok(
      openMs < (asked * commandTimeoutMs) / 2,
      `an open circuit is waited for: ${openMs} ms`,
    );
    process.kill(own.pid, 'SIGCONT');
    await until(
      async () => {
        world.skip(5_000);
        await window.take(claim);
        return link.status.circuit === 'closed';
      },
      { what: 'Redis to be used again' },
    );
    assert.equal(lines.length, 2);
    assert.match(lines[1] ?? '', /Redis is back/);
  });

  test('a start without it works, and a password is not logged', async (t) => {
    const { world, lines, openLink } = await setup(t, 'redis://:canary-secret@127.0.0.1:1');
    const window = (await openLink()).windowFor('jobs', new MemoryWindow(world));
    assert.equal(await allowedOf([window], 20), 10);
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines.join('\n'), /canary/);
  });

  test('a password that Redis refuses is not logged either', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const owner = new Client(own.url);
    t.after(() => owner.disconnect());
    await owner.config('SET', 'requirepass', 'another-password');
    const { lines, openLink } = await setup(t, `redis://:canary-secret@127.0.0.1:${own.port}`);
    const link = await openLink();
    assert.match(lines.join('\n'), /Redis is away \(WRONGPASS/);
    assert.equal(link.status.isReady, false);
    assert.doesNotMatch(lines.join('\n'), /canary/);
  });
});

describe('responses of Membership in Redis', () => {
  test('one process asks, and the others use the response', async (t) => {
    const { openLink, client } = await setup(t);
    const first = await withMembership(t, { remote: await openLink() });
    const { membership } = first;
    membership.reply = (key) => ({
      status: key === 'good-key' ? 200 : 401,
      body: '{"tier":"pro"}',
    });
    const second = openFixture({ membershipUrl: membership.url, remote: await openLink() });
    assert.equal((await first.access.authenticate('good-key')).tier, 'pro');
    assert.equal(await first.codeOf('bad-key'), 'unauthorized');
    const places = await client.keys('pawl:auth:*');
    const lives = await Promise.all(places.map((place) => client.pttl(place)));
    const [short = 0, long = 0] = lives.sort((one, other) => one - other);
    assert.ok(short > 0 && short <= 5_000 && long > 5_000 && long <= 60_000, `${lives}`);
    // Their expiry is in real time: a busy machine may take longer than they live.
    await Promise.all(places.map((place) => client.pexpire(place, 60_000)));
    assert.equal((await second.access.authenticate('good-key')).tier, 'pro');
    assert.equal(await second.codeOf('bad-key'), 'unauthorized');
    assert.equal(membership.requests.length, 2);
  });

  test('reading a response does not extend its lifetime', async (t) => {
    const { openLink, client } = await setup(t);
    const { world, codeOf, answer } = await withMembership(t, { remote: await openLink() });
    const [place = ''] = await codeOf('some-key').then(() => client.keys('pawl:auth:*'));
    await client.pexpire(place, 20_000);
    world.skip(60_000);
    assert.equal(await codeOf('some-key'), 'valid');
    await client.del(place);
    answer({ status: 401 });
    world.skip(20_001);
    assert.equal(await codeOf('some-key'), 'unauthorized');
  });

  test('an invalid entry is ignored', async (t) => {
    const { openLink, client } = await setup(t);
    const { world, codeOf, membership, answer } = await withMembership(t, {
      remote: await openLink(),
    });
    await codeOf('some-key');
    const [place = ''] = await client.keys('pawl:auth:*');
    answer({ status: 401 });
    for (const [index, text] of ['', 'true', '"yes"', '{', '{"tier":7}', '[]'].entries()) {
      await client.set(place, text, 'PX', 60_000);
      world.skip(60_000);
      assert.equal(await codeOf('some-key'), 'unauthorized', text);
      assert.equal(membership.requests.length, index + 2);
    }
  });

  test('no key is in Redis in any form', async (t) => {
    const { openLink, client } = await setup(t);
    const { access } = await withMembership(t, { remote: await openLink() });
    const caller = await access.authenticate('canary-key-5f1d8a7e');
    await access.admit(caller, '/jobs');
    const keys = await client.keys('*');
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    const text = [...keys, ...dumps.map((dump) => dump?.toString('latin1'))].join('\n');
    assert.match(text, new RegExp(caller.callerId));
    assert.doesNotMatch(text, /canary/);
  });
});

test('access uses Redis only if an address is set', async (t) => {
  const { client } = await setup(t);
  const world = new TestWorld();
  const log = makeLog('silent', () => undefined);
  const audit = makeAudit(world, () => undefined);
  const settings = { world, log, audit, apiKeys: [hashed('some-key')] };
  for (const redisUrl of [redis.url, undefined]) {
    await client.flushall();
    const { access, close } = await assembleAccess({ ...settings, redisUrl });
    t.after(close);
    assert.equal(access.isGuarded, true);
    const caller = await access.authenticate('some-key');
    const isCounted = async () => {
      assert.equal((await access.admit(caller, '/search')).allowed, true);
      return (await client.keys('pawl:{embed}:*')).length === (redisUrl === undefined ? 0 : 2);
    };
    await until(isCounted, { what: 'the request to be counted' });
  }
});

test('readiness reports Membership and Redis, each if it is configured', async (t) => {
  const { openLink } = await setup(t);
  const { access } = await withMembership(t, { remote: await openLink() });
  assert.deepEqual(access.status, {
    membership: { circuit: 'closed', retryAfterMs: 0 },
    redis: { isReady: true, circuit: 'closed' },
  });
  assert.deepEqual(openFixture().access.status, {});
});
