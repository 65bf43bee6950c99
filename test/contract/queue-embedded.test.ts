import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { EmbeddedQueue } from '../../src/queue/embedded.ts';
import { TestWorld } from '../support/test-world.ts';
import { consumeByHand, message, queueTests, testTimes } from './queue-suite.ts';

describe('a queue in memory', () => {
  for (const [title, run] of queueTests) {
    test(title, async (t) => {
      await run(
        {
          open: async (t, times) => {
            const times_ = { ...testTimes, ...times };
            const queue = new EmbeddedQueue({ name: 'q', world: realWorld(), times: times_ });
            t.after(() => queue.close());
            return queue;
          },
        },
        t,
      );
    });
  }

  test('uses the times of the limits table', async () => {
    const world = new TestWorld();
    const queue = new EmbeddedQueue({ name: 'q', world });
    await queue.add([message('a')]);
    const { taken } = await consumeByHand(queue);
    await world.advance(3_499_000);
    assert.equal(taken[0]?.signal.aborted, false);
    await world.advance(1_000);
    assert.equal(taken[0]?.signal.aborted, true);
    await world.advance(99_000);
    assert.equal(taken.length, 1);
    await world.advance(1_000);
    assert.equal(taken.length, 2);
  });

  test('accepts a bounded number of messages', async () => {
    const queue = new EmbeddedQueue({ name: 'q', world: new TestWorld() });
    const most = limits.queue.embeddedMessagesMax;
    await queue.add(Array.from({ length: most }, (_, at) => message(String(at))));
    await assert.rejects(queue.add([message('one more')]), { code: 'queue_full' });
    await queue.add([message('7')]);
  });
});
