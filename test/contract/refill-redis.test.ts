/** Requests on disk, and a real Redis that is emptied and killed during the work. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { realWorld } from '../../src/app/world.ts';
import { Refill } from '../../src/handoff/orchestrator/refill.ts';
import { makeLog } from '../../src/observe/log.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { Message } from '../../src/queue/queue.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';
import { lossTimes, testTimes } from './queue-suite.ts';

const world = realWorld();

/** A queue, and a disk whose requests are closed by their responses. */
async function setup(t: TestContext) {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  // A killed Redis leaves messages with consumers that do not know of them.
  const times = { ...testTimes, ...lossTimes };
  const queue = await openBullQueue({ name: 'q', url: redis.url, world, log, times });
  t.after(() => queue.close());
  const open = new Map<number, Message>();
  const requests = {
    list: async ({ from, limit }: { from: number; limit: number }) => {
      const found = [...open].filter(([at]) => at >= from).slice(0, limit);
      const last = found.at(-1)?.[0];
      const next = found.length < limit || last === undefined ? undefined : last + 1;
      return { messages: found.map(([, message]) => message), next };
    },
  };
  const errors: unknown[] = [];
  const onError = (_: string, error: unknown): void => void errors.push(error);
  const refill = new Refill({ queues: [queue], requests, world, onError });
  t.after(() => refill.stop());
  const client = new Client(redis.url);
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  const ask = (count: number): void => {
    const from = open.size;
    const messages = Array.from({ length: count }, (_, at) => {
      return { id: `m${from + at}`, kind: 'scrape' };
    });
    for (const [at, message] of messages.entries()) open.set(from + at, message);
    refill.put('q', messages);
  };
  return { redis, queue, open, refill, client, ask, errors, lines };
}

test('an emptied Redis is full again within seconds', async (t) => {
  const { queue, refill, client, ask } = await setup(t);
  refill.start();
  ask(1_200);
  const isFull = async () => (await queue.depth()).waiting === 1_200;
  await until(isFull, { what: 'the queue to be full' });
  for (let time = 0; time < 3; time += 1) {
    await client.flushall();
    const startedAt = performance.now();
    await until(isFull, { what: 'the queue to be full again' });
    t.diagnostic(`full again after ${Math.round(performance.now() - startedAt)} ms`);
  }
});

test('every request is answered, however often Redis is emptied and killed', async (t) => {
  const { redis, queue, open, refill, client, ask, errors } = await setup(t);
  refill.start();
  const total = 400;
  ask(total);
  const answers = new Map<string, number>();
  const run = async ({ message: { id } }: { message: Message }) => {
    // A document takes a moment.
    await new Promise<void>((resolve) => void world.setTimer(resolve, 20));
    answers.set(id, (answers.get(id) ?? 0) + 1);
    open.delete(Number(id.slice(1)));
    return { do: 'finish' } as const;
  };
  await queue.consume({ places: 2, run, onError: assert.fail });
  for (let time = 1; open.size > 0 && time <= 12; time += 1) {
    const before = open.size;
    await until(() => open.size < before - 20 || open.size === 0, {
      what: 'some answers',
    });
    if (time % 3 === 0) await redis.restart('immediate');
    else await client.flushall();
  }
  await until(() => open.size === 0, { what: 'all answers' });
  assert.equal(answers.size, total);
  const twice = [...answers.values()].filter((count) => count > 1).length;
  t.diagnostic(`${twice} of ${total} were worked on more than once`);
  assert.ok(errors.length <= 4, 'an outage is reported once, and not for every try');
});
