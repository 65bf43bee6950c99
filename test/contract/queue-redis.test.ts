/** Queues in a real Redis with outages, with consumers that are really killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis as Client } from 'ioredis';
import { realWorld } from '../../src/app/world.ts';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import { makeLog } from '../../src/observe/log.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { QueueTimes } from '../../src/queue/queue.ts';
import { patience } from '../support/patience.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { lastingPort } from '../support/server.ts';
import { until } from '../support/wait.ts';
import { consumeByHand, lossTimes, message, queueTests, testTimes } from './queue-suite.ts';

let redis: Redis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

const world = realWorld();

/** Its own queue on the Redis of this file, or on another. */
async function setup(t: TestContext, given: { url?: string; times?: Partial<QueueTimes> } = {}) {
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  const { url = redis.url } = given;
  // A Redis of the test is stopped before the queue is closed, which then waits in vain.
  const { abandonMs } = url === redis.url ? testTimes : lossTimes;
  const times = { ...testTimes, abandonMs, ...given.times };
  const name = world.uuid();
  const queue = await openBullQueue({ name, url, world, log, times });
  t.after(() => queue.close());
  return { queue, lines, name, url, times };
}

async function ownRedis(t: TestContext): Promise<Redis> {
  const own = await startRedis();
  t.after(() => own.stop());
  return own;
}

type Settings = { readonly url: string; readonly name: string; readonly times: QueueTimes };

/** A consumer in a process that can be killed, stopped and kept busy. */
async function startProcess(t: TestContext, settings: Settings) {
  const program = fileURLToPath(new URL('../support/queue-consumer.ts', import.meta.url));
  const { url, name, times } = settings;
  const child = spawn(process.execPath, [program, JSON.stringify({ url, name, times })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  const hears = (what: string): Promise<string> =>
    until(() => said.find((line) => line.startsWith(what)), { what });
  await hears('ready');
  const tell = (line: string): void => void child.stdin.write(`${line}\n`);
  return { child, said, hears, tell };
}

describe('a queue in Redis', () => {
  for (const [title, run] of queueTests) {
    test(title, async (t) => {
      const open = async (t: TestContext, times?: Partial<QueueTimes>) =>
        (await setup(t, { times: times ?? {} })).queue;
      await run({ open }, t);
    });
  }

  test('keeps nothing of finished messages, and no error texts', async (t) => {
    const { queue, name } = await setup(t);
    await queue.add([message('a')]);
    const { next } = await consumeByHand(queue);
    (await next(1)).fail(new Error('the password is 12345'));
    const second = await next(2);
    const client = new Client(redis.url);
    t.after(() => client.disconnect());
    const hash = await client.hgetall(`pawl:{${name}}:m-a`);
    assert.doesNotMatch(JSON.stringify(hash), /12345/);
    second.settle();
    await until(async () => !(await client.exists(`pawl:{${name}}:m-a`)), { what: 'its end' });
  });
});

describe('a consumer of a queue in Redis', () => {
  test('that is killed leaves its message to another, as a further try', async (t) => {
    const { queue, ...settings } = await setup(t, { times: lossTimes });
    const dying = await startProcess(t, settings);
    await queue.add([message('a')]);
    await dying.hears('took a 1');
    dying.child.kill('SIGKILL');
    await once(dying.child, 'exit');
    const { next } = await consumeByHand(queue);
    const second = await next(1);
    assert.equal(second.attempt, 2);
    second.settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
  });

  test('keeps its message while its only thread is busy for longer than a lock', async (t) => {
    const { queue, ...settings } = await setup(t, { times: lossTimes });
    const busy = await startProcess(t, settings);
    await queue.add([message('a')]);
    await busy.hears('took a 1');
    const { taken } = await consumeByHand(queue);
    busy.tell(`block ${2 * settings.times.lockMs}`);
    await busy.hears('blocked');
    assert.deepEqual(taken, []);
    busy.tell('finish');
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
    assert.deepEqual(taken, []);
    assert.ok(!busy.said.some((line) => line.startsWith('aborted')));
  });

  test('loses its message if its thread is busy for longer than a run may take', async (t) => {
    const times = { ...lossTimes, softMs: 500, visibilityMs: 3_000 };
    const { queue, ...settings } = await setup(t, { times });
    const busy = await startProcess(t, settings);
    await queue.add([message('a')]);
    await busy.hears('took a 1');
    busy.tell(`block ${patience.testMs}`);
    const { next } = await consumeByHand(queue);
    const second = await next(1);
    assert.equal(second.attempt, 2);
    assert.ok(!busy.said.includes('blocked'), 'it is busy still');
    second.settle();
  });

  test('that slept notices that another has its message; its late result is ignored', async (t) => {
    const { queue, ...settings } = await setup(t, { times: lossTimes });
    const zombie = await startProcess(t, settings);
    await queue.add([message('a')]);
    await zombie.hears('took a 1');
    zombie.child.kill('SIGSTOP');
    const { next } = await consumeByHand(queue);
    const second = await next(1);
    assert.equal(second.attempt, 2);
    zombie.child.kill('SIGCONT');
    await zombie.hears('aborted lease_lost');
    zombie.tell('finish');
    await zombie.hears('finishes a');
    // Its next action is to take another message: the result of this one was sent.
    await queue.add([message('b')]);
    await zombie.hears('finishes b');
    const isOne = async () => (await queue.depth()).active === 1;
    await until(isOne, { what: 'the end of b, and of b alone' });
    assert.deepEqual(
      zombie.said.filter((line) => line.startsWith('error')),
      [],
    );
    second.settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
  });
});

describe('when Redis is away', () => {
  test('at the start, a consumer waits for it, logs that once, and then works', async (t) => {
    const own = await ownRedis(t);
    process.kill(own.pid, 'SIGKILL');
    const { queue, lines } = await setup(t, { url: own.url });
    const { next, errors } = await consumeByHand(queue);
    await assert.rejects(queue.add([message('a')]), { code: 'queue_unavailable' });
    await until(() => lines.length === 2, { what: 'both to say that it is away' });
    await own.restart('immediate');
    await until(() => queue.add([message('a')]).then(() => true), { what: 'Redis to be used' });
    (await next(1)).settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
    assert.deepEqual(
      lines
        .map((line) => line.replace(/queue \S+|consumer of \S+/, 'X').replace(/\(.*\)/, '()'))
        .sort(),
      [
        'pawl: warn: Redis of X is away (); nothing is lost, and it is tried again',
        'pawl: warn: Redis of X is back',
        'pawl: warn: Redis of the X is away (); nothing is lost, and it is tried again',
        'pawl: warn: Redis of the X is back',
      ],
    );
    assert.deepEqual(errors, []);
  });

  test('in the middle, runs continue, and work continues when it is back, empty', async (t) => {
    const own = await ownRedis(t);
    const { queue, lines } = await setup(t, { url: own.url });
    await queue.add([message('a')]);
    const { next, errors } = await consumeByHand(queue);
    const first = await next(1);
    for (const times of [1, 2]) {
      await own.restart('immediate');
      const isBack = () => lines.filter((line) => line.includes('is back')).length === 2 * times;
      await until(isBack, { what: 'both to be back' });
    }
    assert.equal(lines.length, 8, lines.join('\n'));
    await queue.add([message('a'), message('b')]);
    assert.equal(first.signal.aborted, false);
    first.settle();
    // A message added during its run is delivered again: the sender knows that it is done.
    const second = await next(2);
    assert.equal(second.message.id, 'a');
    second.settle();
    (await next(3)).settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
    assert.deepEqual(errors, []);
  });

  test('a consumer can still be stopped', async (t) => {
    const own = await ownRedis(t);
    const { queue } = await setup(t, { url: own.url });
    await queue.add([message('a')]);
    const { consumer, next } = await consumeByHand(queue);
    const first = await next(1);
    process.kill(own.pid, 'SIGKILL');
    first.settle();
    await consumer.stop(100);
    const never = await setup(t, { url: `redis://127.0.0.1:${await lastingPort()}` });
    const idle = await consumeByHand(never.queue);
    await idle.consumer.stop(100);
  });

  test('and comes back empty, one process is asked to fill it, even during a fill', async (t) => {
    const { queue } = await setup(t);
    const client = new Client(redis.url);
    t.after(() => client.disconnect());
    assert.equal(await queue.beginFill(), true);
    await client.flushall();
    await queue.endFill();
    assert.equal(await queue.beginFill(), true, 'it was emptied during the fill');
    await queue.endFill();
    assert.equal(await queue.beginFill(), false);
    await client.flushall();
    assert.equal(await queue.beginFill(), true);
  });
});

describe('a Redis that may evict messages', () => {
  test('is refused, with advice, and without its password', async (t) => {
    const own = await startRedis({ settings: { 'maxmemory-policy': 'volatile-lru' } });
    t.after(() => own.stop());
    const url = own.url.replace('127', 'user:very-secret@127');
    const log = makeLog('silent', () => undefined);
    const client = new Client(own.url);
    t.after(() => client.disconnect());
    await client.call('ACL', 'SETUSER', 'user', 'on', '>very-secret', '~*', '&*', '+@all');
    const failure = await openBullQueue({ name: 'q', url, world, log }).then(
      () => assert.fail('it was accepted'),
      (error: Failure) => error,
    );
    assert.equal(failure.code, 'queue_evicts');
    assert.match(failure.message, /is volatile-lru: .*drops messages/);
    const cure = `redis-cli -u ${own.url} CONFIG SET maxmemory-policy noeviction`;
    assert.ok(failure.message.includes(`\`${cure}\``), failure.message);
    assert.match(failure.message, /`maxmemory-policy noeviction` into its redis\.conf/);
    assert.doesNotMatch(failure.message, /very-secret/);
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    await (await openBullQueue({ name: 'q', url, world, log })).close();
  });

  test('is reported as an error if it was away at the start', async (t) => {
    const own = await startRedis({ settings: { 'maxmemory-policy': 'allkeys-lru' } });
    t.after(() => own.stop());
    process.kill(own.pid, 'SIGKILL');
    const { lines } = await setup(t, { url: own.url });
    await own.restart('immediate');
    await until(() => lines.some((line) => /^pawl: error: .*is allkeys-lru/s.test(line)), {
      what: 'the error',
    });
  });
});

describe('a Redis that is full', () => {
  const text = 'x'.repeat(10_000);
  const numberIn = (info: string, name: string): number =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);

  async function setupFull(t: TestContext) {
    const own = await startRedis({ settings: { maxmemory: '6mb' } });
    t.after(() => own.stop());
    const client = new Client(own.url);
    t.after(() => client.disconnect());
    const fill = async (share: number): Promise<void> => {
      for (let at = 0; at < 1000; at += 1) {
        const used = numberIn(await client.info('memory'), 'used_memory');
        const isFull = await client.set(`other-${at}`, text).then(
          () => used >= share * 6 * 1024 ** 2,
          () => true,
        );
        if (isFull) return;
      }
      assert.fail('it was never full');
    };
    return { ...(await setup(t, { url: own.url })), client, fill };
  }

  test('accepts no new messages before it is completely full, and can be emptied', async (t) => {
    const { queue, fill, name, url } = await setupFull(t);
    await queue.add([message('kept')]);
    await fill(0.93);
    const log = makeLog('silent', () => undefined);
    const other = await openBullQueue({ name, url, world, log });
    t.after(() => other.close());
    const refused = {
      code: 'queue_unavailable',
      message: /9\d % of the memory .* raise its maxmem/,
    };
    await assert.rejects(other.add([message('new')]), refused);
    const { next } = await consumeByHand(queue);
    const kept = await next(1);
    assert.equal(kept.message.id, 'kept');
    kept.settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
  });

  test('is reported once, and not called without a pause', async (t) => {
    const { queue, client, fill } = await setupFull(t);
    await queue.add([message('kept')]);
    await fill(2);
    const { errors, next } = await consumeByHand(queue);
    await until(() => errors.length > 0, { what: 'the refusal' });
    const countCommands = async () =>
      numberIn(await client.info('stats'), 'total_commands_processed');
    const before = await countCommands();
    // Waits for a replica that never comes: Redis keeps the time.
    await client.wait(1, 1_500);
    const commands = (await countCommands()) - before;
    assert.ok(commands < 500, `${commands} commands in 1.5 s`);
    assert.equal(errors.length, 1, errors.map(String).join('\n'));
    await client.config('SET', 'maxmemory', '12mb');
    (await next(1)).settle();
    await until(async () => (await queue.depth()).active === 0, { what: 'its end' });
  });
});
