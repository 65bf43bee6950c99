/** One round of the batch loops that waits for its tasks: the loops of `BatchRunner` do not. */
import { expireOld } from '../../../src/engine/batch/expiry.ts';
import { openLanes, type TaskPool } from '../../../src/engine/batch/lanes.ts';
import { pollPool } from '../../../src/engine/batch/reconciler.ts';
import { type BatchOptions, submissionPool } from '../../../src/engine/batch/submit.ts';
import { windDownPool } from '../../../src/engine/batch/wind-down.ts';

/** Submits due tasks. Returns how many were taken. */
export function submitDue(options: BatchOptions, signal: AbortSignal): Promise<number> {
  return workOff(submissionPool(options, signal), options, signal);
}

/** Does everything that is due, except submissions. Returns the number of tasks polled. */
export async function reconcile(options: BatchOptions, signal: AbortSignal): Promise<number> {
  await expireOld(options);
  // First: a task that fails in this round is wound down in the next one.
  await workOff(windDownPool(options, signal), options, signal);
  return workOff(pollPool(options, signal), options, signal);
}

/** Works off all due tasks in the lanes of this process. Returns how many. */
async function workOff(
  pool: TaskPool,
  options: BatchOptions,
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  for (let isFull = true; isFull && !signal.aborted; ) {
    const filled = await pool.fill(await openLanes(options));
    await pool.drain();
    all += filled.taken;
    isFull = filled.isFull;
  }
  return all;
}
