import assert from 'node:assert/strict';
import { gatherLines } from '../../../src/engine/batch/lane.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { insertLines, linesOfStep } from '../../../src/store/batch/lines.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';

/** An item with this many lines for a batch task. */
export async function defer(bench: BatchBench, count = 1): Promise<{ id: number; key: string }> {
  const { store } = bench;
  const { key } = await store.submit();
  const row = await store.claimOne();
  const requests = Array.from({ length: count }, (_, place) => ({
    input: `request ${place}`,
  }));
  const verdict = await store.report(
    row,
    { to: 'task' },
    {
      effect: async (transaction) => {
        const lines = { itemId: row.id, caller: 'ann', step: 'entity_extracted', requests };
        const asked = { ...lines, taskType: 'completion', model: 'gpt-4o-mini' };
        await insertLines(transaction, asked, store.world.now());
        return [];
      },
    },
  );
  assert.equal(verdict, 'applied');
  return { id: row.id, key };
}

export async function gather(bench: BatchBench): Promise<number> {
  bench.store.world.skip(limits.batch.gatherMs);
  const made = await gatherLines(bench.options);
  await bench.deliver();
  return made;
}

export async function statuses(bench: BatchBench, itemId: number): Promise<string[]> {
  const lines = await linesOfStep(bench.store.database, itemId, 'entity_extracted');
  return lines.map(({ status }) => status);
}

export const laneTests: readonly BatchTest[] = [
  [
    'an item waits for its task without a lease, and is woken by its end',
    async (bench) => {
      const { id } = await defer(bench, 2);
      const waiting = await bench.store.item(id);
      assert.deepEqual([waiting.waits_on, waiting.worker], ['task', null]);
      assert.equal(await bench.store.withoutCause(), 0);
      assert.equal(await gatherLines(bench.options), 0, 'more may come');
      assert.equal(await gather(bench), 1);
      assert.equal(await bench.store.withoutCause(), 0);
      await bench.poll(3);
      assert.equal((await bench.store.item(id)).waits_on, 'turn');
      assert.deepEqual(await statuses(bench, id), ['ok', 'ok']);
      assert.equal(await bench.store.withoutCause(), 0);
      assert.equal((await bench.store.claimOne()).id, id);
    },
  ],
  [
    'an item without open lines would never move, and is counted',
    async (bench) => {
      await defer(bench);
      await bench.store.database.write((transaction) =>
        transaction.run({ text: 'DELETE FROM batch_lines' }),
      );
      assert.equal(await bench.store.withoutCause(), 1);
    },
  ],
  [
    'requests of many items go into one task, and two gatherers make no second one',
    async (bench) => {
      for (let item = 0; item < 3; item += 1) await defer(bench);
      bench.store.world.skip(limits.batch.gatherMs);
      await Promise.allSettled([gatherLines(bench.options), gatherLines(bench.options)]);
      await bench.deliver();
      assert.equal(bench.openai.batches.size, 1);
    },
  ],
  [
    'a failed line wakes its item with the failure, and the others with their responses',
    async (bench) => {
      const one = await defer(bench);
      const two = await defer(bench);
      bench.openai.answer = ({ custom_id }) =>
        custom_id === 'line-1' ? { status: 400, message: 'no' } : { content: 'yes' };
      await gather(bench);
      await bench.poll(3);
      assert.deepEqual(await statuses(bench, one.id), ['failed']);
      assert.deepEqual(await statuses(bench, two.id), ['ok']);
      assert.equal((await bench.store.item(one.id)).waits_on, 'turn');
    },
  ],
  [
    'lines without a result are sent once more in halves, and then fail',
    async (bench) => {
      const items = [await defer(bench), await defer(bench)];
      bench.openai.answer = () => 'missing';
      await gather(bench);
      await bench.poll(3);
      assert.deepEqual(await statuses(bench, items[0]?.id ?? 0), ['open']);
      assert.equal((await bench.store.item(items[0]?.id)).waits_on, 'task');
      assert.equal(await bench.store.withoutCause(), 0);
      await gather(bench);
      await gather(bench);
      assert.equal(bench.openai.batches.size, 3);
      await bench.poll(4);
      for (const { id } of items) {
        assert.deepEqual(await statuses(bench, id), ['failed']);
        assert.equal((await bench.store.item(id)).waits_on, 'turn');
      }
    },
  ],
  [
    'an item of a paused job stays with the person, and a canceled one is not woken',
    async (bench) => {
      const paused = await defer(bench);
      const canceled = await defer(bench);
      await gather(bench);
      await bench.store.commands.pause('ann', paused.key);
      await bench.store.commands.cancel('ann', canceled.key);
      await bench.poll(3);
      assert.equal((await bench.store.item(paused.id)).waits_on, 'person');
      assert.equal((await bench.store.item(canceled.id)).step, 'canceled');
      assert.equal(await bench.store.withoutCause(), 0);
      await bench.store.commands.resume('ann', paused.key);
      assert.equal((await bench.store.item(paused.id)).waits_on, 'turn');
    },
  ],
  [
    'requests of an item that was canceled first are never sent',
    async (bench) => {
      const { key } = await defer(bench);
      await bench.store.commands.cancel('ann', key);
      assert.equal(await gather(bench), 0);
      assert.equal(bench.openai.batches.size, 0);
    },
  ],
  [
    'a canceled task wakes its items, and their lines have failed',
    async (bench) => {
      const { id } = await defer(bench);
      await gather(bench);
      const [task] = await bench.store.rows<{ key: string }>('SELECT key FROM batch_tasks');
      await bench.commands.cancel('ann', task?.key ?? '');
      assert.deepEqual(await statuses(bench, id), ['open'], 'the provider may still answer');
      await bench.poll();
      assert.deepEqual(await statuses(bench, id), ['failed']);
      assert.equal((await bench.store.item(id)).waits_on, 'turn');
    },
  ],
];
