/**
 * Ends tasks that are too old. Every process does so, with or without the provider's settings: the
 * limit also holds for tasks that no process serves. A process with the settings ends their jobs at
 * the provider.
 */

import { Failure } from '../../kernel/failure/failure.ts';
import { batchTaskState } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { takeOldTasks } from '../../store/batch/taking.ts';
import { type BatchTaskRow, moveTask } from '../../store/batch/tasks.ts';
import { type BatchOptions, errorOf, taskEvent } from './submit.ts';

export async function expireOld(options: BatchOptions): Promise<number> {
  const { database, holdMs = limits.batch.holdMs } = options;
  const now = database.now();
  const rows = await database.write((transaction) =>
    takeOldTasks(transaction, {
      before: now - limits.batch.taskAgeMsMax,
      limit: limits.batch.pageMax,
      now,
      heldUntil: now + holdMs,
    }),
  );
  const hours = limits.batch.taskAgeMsMax / 3_600_000;
  for (const row of rows) {
    const message =
      row.state === batchTaskState.pending
        ? `the provider did not accept it within ${hours} h`
        : `the task has been in progress for more than ${hours} h`;
    const waited = row.wait_reason === null ? '' : `: ${row.wait_reason}`;
    await giveUp(row, options, new Failure('batch_expired', `${message}${waited}`));
  }
  return rows.length;
}

/**
 * Fails a task. If its provider may know it, its jobs are ended there, and waiting items wait until
 * that is confirmed: until then results may arrive, and may be charged.
 */
export async function giveUp(
  row: BatchTaskRow,
  { database, onEnd }: Pick<BatchOptions, 'database' | 'onEnd'>,
  failure: Failure,
): Promise<void> {
  const now = database.now();
  const isCancelDue = mayBeAtProvider(row);
  const { code, message: reason } = failure;
  await database.write(async (transaction) => {
    const isOurs = await moveTask(transaction, row, {
      event: 'fail',
      error: errorOf(failure),
      isCancelDue,
      nextAt: now,
      now,
      told: taskEvent('batch_task_failed', row, { code, reason }),
    });
    if (!isOurs || isCancelDue) return;
    await onEnd?.(transaction, { row, results: new Map(), blobKey: undefined, reason, now });
  });
}

/** Only a process that took the task before can have begun a job. */
function mayBeAtProvider({ state, epoch }: BatchTaskRow): boolean {
  return state === batchTaskState.in_progress || epoch > 1;
}
