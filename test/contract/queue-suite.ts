/** What every queue does, in memory or in Redis. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import type {
  ConsumeOptions,
  Consumer,
  Delivery,
  Message,
  Queue,
  QueueTimes,
  Settled,
} from '../../src/queue/queue.ts';
import { patience } from '../support/patience.ts';
import { makeLatch } from '../support/test-world.ts';
import { until } from '../support/wait.ts';

export interface QueueBench {
  /** An empty queue that is closed after the test. */
  open(t: TestContext, times?: Partial<QueueTimes>): Promise<Queue>;
}

/** No run of a test loses its lock, even on a busy machine; `lossTimes` are for those. */
export const testTimes: QueueTimes = {
  softMs: 60_000,
  visibilityMs: 120_000,
  lockMs: 120_000,
  renewMs: 150,
  stalledMs: 200,
  retryMs: 20,
  retryMsMax: 100,
  abandonMs: 60_000,
};

/** For tests in which another consumer gets the message of one that is gone or hangs. */
export const lossTimes = { lockMs: 3_000, abandonMs: 300 };

const finish: Settled = { do: 'finish' };
export const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  kind: 'scrape',
  ...more,
});

/** A run that the test controls: its delivery, and how to answer it. */
export interface Taken extends Delivery {
  settle(settled?: Settled): void;
  fail(error: Error): void;
}

/** A consumer whose deliveries wait until the test answers them. */
export async function consumeByHand(queue: Queue, options: Partial<ConsumeOptions> = {}) {
  const taken: Taken[] = [];
  const errors: [what: string, error: unknown][] = [];
  const consumer = await queue.consume({
    places: 1,
    onError: (what, error) => errors.push([what, error]),
    run: (delivery) => {
      const { promise, resolve, reject } = Promise.withResolvers<Settled>();
      const settle = (settled: Settled = finish): void => resolve(settled);
      taken.push({ ...delivery, settle, fail: reject });
      return promise;
    },
    ...options,
  });
  const next = (count: number): Promise<Taken> =>
    until(() => taken[count - 1], { what: `delivery ${count}` });
  return { consumer, taken, errors, next };
}

const emptied = (queue: Queue): Promise<true> =>
  until(
    async () => {
      const { waiting, active } = await queue.depth();
      return waiting + active === 0 || undefined;
    },
    { what: 'the queue to be empty' },
  ) as Promise<true>;

const codeOf = (signal: AbortSignal): string => (signal.reason as Failure).code;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

type QueueTest = readonly [
  title: string,
  run: (bench: QueueBench, t: TestContext) => Promise<void>,
];

export const queueTests: readonly QueueTest[] = [
  [
    'delivers a message unchanged, with any id, in the order of adding',
    async ({ open }, t) => {
      const queue = await open(t);
      const ids = ['a:b:c', '42', 'with space/slash?%', 'ümläut…', 'x'.repeat(200)];
      const messages = ids.map((id) => message(id, { jobId: 'job', request: { url: id, n: [1] } }));
      await queue.add(messages);
      const { next } = await consumeByHand(queue);
      for (const [at, expected] of messages.entries()) {
        const delivery = await next(at + 1);
        assert.deepEqual(delivery.message, expected);
        assert.equal(delivery.attempt, 1);
        delivery.settle();
      }
      await emptied(queue);
    },
  ],

  [
    'treats a message that is added twice as one: while waiting, running or delayed',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a'), message('a')]);
      await queue.add([message('a')]);
      assert.deepEqual(await queue.depth(), { waiting: 1, active: 0 });
      const { consumer, next } = await consumeByHand(queue, { places: 2 });
      const first = await next(1);
      await queue.add([message('a')]);
      first.settle({ do: 'again', afterMs: 300 });
      // Without a consumer it stays delayed, however long that takes.
      await consumer.stop(patience.eventMs);
      assert.deepEqual(await queue.depth(), { waiting: 1, active: 0 });
      await queue.add([message('a')]);
      const other = await consumeByHand(queue, { places: 2 });
      (await other.next(1)).settle();
      await emptied(queue);
      assert.equal(other.taken.length, 1);
      await queue.add([message('a')]);
      (await other.next(2)).settle();
      await emptied(queue);
    },
  ],

  [
    'counts a message as present until its run has settled',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a'), message('b')]);
      const { next } = await consumeByHand(queue);
      const first = await next(1);
      assert.deepEqual(await queue.depth(), { waiting: 1, active: 1 });
      first.settle();
      (await next(2)).settle();
      await emptied(queue);
    },
  ],

  [
    'takes no more messages than it has slots',
    async ({ open }, t) => {
      const queue = await open(t);
      const { next, taken } = await consumeByHand(queue, { places: 2 });
      await queue.add(['a', 'b', 'c', 'd'].map((id) => message(id)));
      await next(2);
      assert.deepEqual(await queue.depth(), { waiting: 2, active: 2 });
      for (let at = 0; at < 4; at += 1) {
        (await next(at + 1)).settle();
        assert.ok(taken.length <= at + 3);
      }
      await emptied(queue);
    },
  ],

  [
    'delivers again on request, no sooner than requested, without using a try',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a')]);
      const { next, errors } = await consumeByHand(queue);
      const first = await next(1);
      const askedAt = Date.now();
      first.settle({ do: 'again', afterMs: 250 });
      const second = await next(2);
      assert.ok(Date.now() - askedAt >= 249, `${Date.now() - askedAt} ms`);
      assert.equal(second.attempt, 1);
      second.settle({ do: 'again', afterMs: 0 });
      const third = await next(3);
      assert.equal(third.attempt, 1);
      third.settle();
      await emptied(queue);
      assert.deepEqual(errors, []);
    },
  ],

  [
    'reports an exception, and delivers the message again as a further try',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a')]);
      const { next, errors } = await consumeByHand(queue);
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const delivery = await next(attempt);
        assert.equal(delivery.attempt, attempt);
        delivery.fail(new Error(`mistake ${attempt}`));
      }
      (await next(4)).settle();
      await emptied(queue);
      assert.deepEqual(
        errors.map(([what, error]) => `${what}: ${(error as Error).message}`),
        [1, 2, 3].map((attempt) => `scrape a: mistake ${attempt}`),
      );
    },
  ],

  [
    'aborts a run when its time is over, and delivers unfinished work again',
    async ({ open }, t) => {
      const queue = await open(t, { softMs: 200 });
      await queue.add([message('a')]);
      const { next } = await consumeByHand(queue);
      const first = await next(1);
      await aborted(first.signal);
      assert.equal(codeOf(first.signal), 'timeout_soft');
      first.fail(first.signal.reason as Failure);
      const second = await next(2);
      assert.equal(second.attempt, 2);
      second.settle();
      await emptied(queue);
    },
  ],

  [
    'takes the message from a run that does not end, and ignores its late result',
    async ({ open }, t) => {
      const queue = await open(t, { ...lossTimes, softMs: 1_000, visibilityMs: 6_000 });
      await queue.add([message('a')]);
      const { next, errors } = await consumeByHand(queue);
      const hung = await next(1);
      const second = await next(2);
      assert.equal(second.attempt, 2);
      assert.equal(errors.filter(([what]) => what === 'scrape a').length, 1);
      hung.settle();
      await queue.add([message('a')]);
      assert.deepEqual(await queue.depth(), { waiting: 0, active: 1 });
      second.settle();
      await emptied(queue);
    },
  ],

  [
    'stops after running work has ended, and takes nothing more',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a'), message('b')]);
      const { consumer, next, taken } = await consumeByHand(queue);
      const first = await next(1);
      const stopped = consumer.stop(patience.eventMs);
      first.settle();
      await stopped;
      assert.equal(first.signal.aborted, false);
      assert.equal(taken.length, 1);
      assert.deepEqual(await queue.depth(), { waiting: 1, active: 0 });
    },
  ],

  [
    'aborts remaining runs after the grace time, and another has them as the same try',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('a')]);
      const { consumer, next, errors } = await consumeByHand(queue);
      const first = await next(1);
      first.signal.addEventListener('abort', () => first.fail(first.signal.reason as Failure));
      await consumer.stop(50);
      assert.equal(codeOf(first.signal), 'canceled');
      assert.deepEqual(errors, []);
      const other = await consumeByHand(queue);
      const second = await other.next(1);
      assert.equal(second.attempt, 1);
      second.settle();
      await emptied(queue);
    },
  ],

  [
    'does not wait for a run that ignores the abort, and another has the message',
    async ({ open }, t) => {
      const queue = await open(t, lossTimes);
      await queue.add([message('a')]);
      const { consumer, next } = await consumeByHand(queue);
      const first = await next(1);
      await consumer.stop(10);
      const other = await consumeByHand(queue);
      const second = await other.next(1);
      first.settle();
      assert.equal(second.attempt, 2);
      second.settle();
      await emptied(queue);
    },
  ],

  [
    'removes waiting and delayed messages, and leaves running ones',
    async ({ open }, t) => {
      const queue = await open(t);
      await queue.add([message('late')]);
      const { next, taken } = await consumeByHand(queue);
      (await next(1)).settle({ do: 'again', afterMs: 60_000 });
      await until(async () => (await queue.depth()).active === 0, { what: 'it to wait' });
      await queue.add([message('runs'), message('waits')]);
      const running = await next(2);
      await queue.remove(['late', 'waits', 'runs', 'unknown']);
      assert.deepEqual(await queue.depth(), { waiting: 0, active: 1 });
      running.settle();
      await emptied(queue);
      assert.deepEqual(
        taken.map((each) => each.message.id),
        ['late', 'runs'],
      );
    },
  ],

  [
    'distributes its messages: each goes to one consumer',
    async ({ open }, t) => {
      const queue = await open(t);
      const ids = Array.from({ length: 40 }, (_, at) => `m${at}`);
      const seen: string[] = [];
      const both = makeLatch();
      const busy = new Set<number>();
      const consumers: Consumer[] = [];
      for (const who of [1, 2]) {
        const run = async ({ message: { id } }: Delivery): Promise<Settled> => {
          seen.push(id);
          busy.add(who);
          if (busy.size === 2) both.open();
          await both.opened;
          return finish;
        };
        consumers.push(await queue.consume({ places: 3, run, onError: assert.fail }));
      }
      await queue.add(ids.map((id) => message(id)));
      await both.opened;
      await emptied(queue);
      await Promise.all(consumers.map((consumer) => consumer.stop(0)));
      assert.deepEqual(seen.sort(), ids.sort());
    },
  ],

  [
    'asks one process to fill it when it is new, and none after that',
    async ({ open }, t) => {
      const queue = await open(t);
      assert.equal(await queue.beginFill(), true);
      assert.equal(await queue.beginFill(), false);
      await queue.endFill();
      assert.equal(await queue.beginFill(), false);
    },
  ],
];
