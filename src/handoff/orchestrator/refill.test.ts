import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { EmbeddedQueue } from '../../queue/embedded.ts';
import type { Message, Queue } from '../../queue/queue.ts';
import { Refill } from './refill.ts';

const message = (id: string): Message => ({ id, kind: 'scrape' });

/** A queue that can be away and can be emptied, and a disk with open requests. */
function setup(t: { after(run: () => Promise<void>): void }) {
  const world = new TestWorld();
  const open: Message[] = [];
  const errors: unknown[] = [];
  const added: string[][] = [];
  const state = { isAway: false, lists: 0, inner: new EmbeddedQueue({ name: 'q', world }) };
  const queue: Queue = {
    name: 'q',
    add: async (messages) => {
      if (state.isAway) throw new Failure('queue_unavailable', 'away');
      added.push(messages.map(({ id }) => id));
      await state.inner.add(messages);
    },
    beginFill: async () => {
      if (state.isAway) throw new Failure('queue_unavailable', 'away');
      return state.inner.beginFill();
    },
    endFill: () => state.inner.endFill(),
    remove: (ids) => state.inner.remove(ids),
    consume: (options) => state.inner.consume(options),
    depth: () => state.inner.depth(),
    close: () => state.inner.close(),
  };
  const requests = {
    list: async ({ from, limit }: { from: number; limit: number }) => {
      state.lists += 1;
      assert.ok(limit <= limits.queue.refillPageMax);
      const messages = open.slice(from, from + limit);
      return { messages, next: from + limit < open.length ? from + limit : undefined };
    },
  };
  const onError = (_: string, error: unknown): void => void errors.push(error);
  const refill = new Refill({ queues: [queue], requests, world, onError });
  t.after(() => refill.stop());
  const flush = (): void => {
    state.inner = new EmbeddedQueue({ name: 'q', world });
  };
  return { world, open, errors, added, state, queue, refill, flush };
}

test('requests open before the start are put on their queue, in order and in pages', async (t) => {
  const { world, open, added, queue, refill } = setup(t);
  const { refillPageMax } = limits.queue;
  for (let at = 0; at < 2 * refillPageMax + 1; at += 1) open.push(message(String(at)));
  refill.start();
  await world.settle();
  assert.deepEqual(
    added.map((batch) => batch.length),
    [refillPageMax, refillPageMax, 1],
  );
  assert.deepEqual(
    added.flat(),
    open.map(({ id }) => id),
  );
  assert.equal((await queue.depth()).waiting, open.length);
});

test('messages are added at once, in order, and gather while the queue is busy', async (t) => {
  const { world, added, refill } = setup(t);
  refill.start();
  await world.settle();
  added.length = 0;
  for (const id of ['a', 'b', 'c', 'd']) refill.put('q', [message(id)]);
  await world.settle();
  assert.deepEqual(added.flat(), ['a', 'b', 'c', 'd']);
  assert.equal(added.length, 1, 'messages of one turn go together');
});

test('an emptied queue is full again within seconds', async (t) => {
  const { world, open, queue, refill, flush } = setup(t);
  open.push(message('a'), message('b'));
  refill.start();
  await world.settle();
  flush();
  assert.equal((await queue.depth()).waiting, 0);
  await world.advance(limits.queue.fillCheckMs);
  assert.equal((await queue.depth()).waiting, 2);
});

test('nothing is listed while nothing is lost, except once a minute', async (t) => {
  const { world, open, state, refill, queue } = setup(t);
  refill.start();
  await world.settle();
  assert.equal(state.lists, 1);
  await world.advance(limits.queue.refillMs - limits.queue.fillCheckMs);
  assert.equal(state.lists, 1);
  // Opened by a process that died before it could notify.
  open.push(message('forgotten'));
  await world.advance(2 * limits.queue.fillCheckMs);
  assert.equal(state.lists, 2);
  assert.equal((await queue.depth()).waiting, 1);
});

test('an unavailable queue is reported once, and filled when it is back', async (t) => {
  const { world, open, errors, state, queue, refill } = setup(t);
  state.isAway = true;
  refill.start();
  open.push(message('a'));
  refill.put('q', [message('a')]);
  await world.advance(10_000);
  assert.equal(errors.length, 1);
  state.isAway = false;
  await world.advance(limits.queue.fillCheckMs);
  assert.equal((await queue.depth()).waiting, 1);
  assert.equal(errors.length, 1);
  state.isAway = true;
  await world.advance(10_000);
  assert.equal(errors.length, 2);
});

test('messages of a failed put are found on disk', async (t) => {
  const { world, open, state, queue, refill } = setup(t);
  refill.start();
  await world.settle();
  state.isAway = true;
  open.push(message('a'));
  refill.put('q', [message('a')]);
  await world.settle();
  state.isAway = false;
  await world.advance(limits.queue.fillCheckMs);
  assert.equal((await queue.depth()).waiting, 1);
});

test('messages above the limit are left to the disk', async (t) => {
  const { world, open, queue, refill } = setup(t);
  refill.start();
  await world.settle();
  const many = Array.from({ length: limits.queue.putsWaitingMax + 1 }, (_, at) => message(`${at}`));
  open.push(...many);
  refill.put('q', many);
  await world.settle();
  assert.equal((await queue.depth()).waiting, 0);
  await world.advance(limits.queue.fillCheckMs);
  assert.equal((await queue.depth()).waiting, many.length);
});
