/** Every move of the table, tried on a batch task in every state. */
import assert from 'node:assert/strict';
import {
  type BatchTaskEvent,
  type BatchTaskState,
  batchTask,
  batchTaskEvents,
  batchTaskMoves,
} from '../../../src/kernel/lifecycle/batch-task.ts';
import { transition } from '../../../src/kernel/lifecycle/machine.ts';
import { batchTaskShape } from '../../../src/service/view/batch.ts';
import { moveTask } from '../../../src/store/batch/tasks.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { completions } from './submission.ts';

const epoch = 5;

/** A task in a state, as if moves had led it there. */
async function putIn(bench: BatchBench, state: BatchTaskState) {
  const key = await bench.submit(completions);
  await bench.store.rows('UPDATE batch_tasks SET state = :state, epoch = :epoch WHERE key = :key', {
    ...{ state, epoch, key },
  });
  return bench.task(key);
}

type Row = Awaited<ReturnType<typeof putIn>>;

async function tryMove(
  bench: BatchBench,
  event: BatchTaskEvent,
  held: Pick<Row, 'id' | 'key' | 'state' | 'epoch'>,
) {
  const { database, world } = bench.options;
  const isMoved = await database.write((transaction) =>
    moveTask(transaction, held, { event, now: world.now() }),
  );
  return { isMoved, row: await bench.task(held.key) };
}

export const taskMoveTests: readonly BatchTest[] = [
  ...batchTaskEvents.map(
    (event): BatchTest => [
      `the move ${event} changes a task exactly where the table has it`,
      async (bench) => {
        for (const state of batchTask.states) {
          const before = await putIn(bench, state);
          const to = transition(batchTask, state, event);
          if (to === undefined) {
            await assert.rejects(tryMove(bench, event, before), /no .* in /, state);
            assert.deepEqual(await bench.task(before.key), before, state);
            continue;
          }
          const { isMoved, row } = await tryMove(bench, event, before);
          const raised = batchTaskMoves[event].epoch === 'raise' ? 1 : 0;
          assert.ok(isMoved, state);
          assert.deepEqual([row.state, row.epoch], [to, epoch + raised], state);
          assert.equal(row.ended_at !== null, batchTask.final.includes(to), state);
        }
      },
    ],
  ),
  [
    'a holder that lost the task, or that believes it in another state, moves nothing',
    async (bench) => {
      for (const event of batchTaskEvents) {
        const { by, from } = batchTaskMoves[event];
        const [state] = from;
        assert.ok(state);
        const taken = await putIn(bench, state);
        if (by === 'holder') {
          const late = await tryMove(bench, event, { ...taken, epoch: epoch - 1 });
          assert.deepEqual(late, { isMoved: false, row: taken }, event);
        }
        const ended = await putIn(bench, 'completed');
        const wrong = await tryMove(bench, event, { ...ended, state });
        assert.deepEqual(wrong, { isMoved: false, row: ended }, event);
      }
    },
  ],
  [
    'a cancel is accepted where it is offered, and refused where it is not',
    async (bench) => {
      for (const state of batchTask.states) {
        const row = await putIn(bench, state);
        const { actions } = batchTaskShape(row, () => null);
        const cancel = bench.commands.cancel('ann', row.key);
        if (actions.includes('cancel')) {
          await cancel;
          assert.equal((await bench.task(row.key)).state, 'canceled', state);
        } else {
          await assert.rejects(cancel, { code: 'action_not_allowed' }, state);
          assert.deepEqual(await bench.task(row.key), row, state);
        }
      }
    },
  ],
];
