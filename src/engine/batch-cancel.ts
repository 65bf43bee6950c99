/** Tells providers that a task was canceled, until each has heard it or cannot be told. */
import { isRetried, toFailure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import {
  type BatchTaskRow,
  providerStateOf,
  settleCancel,
  takeCanceledTasks,
} from '../store/batch-tasks.ts';
import { type PlannedJob, planJobs, refOf } from './batch-plan.ts';
import type { BatchOptions } from './batch-submit.ts';

interface BegunJob {
  readonly planned: PlannedJob;
  readonly externalId: string;
}

/** False: some could not be told for now. */
export async function cancelJobs(
  jobs: readonly BegunJob[],
  { onError }: Pick<BatchOptions, 'onError'>,
  signal: AbortSignal,
): Promise<boolean> {
  let isTold = true;
  for (const { planned, externalId } of jobs) {
    const entry = { external_job_id: externalId, status: 'RUNNING' as const };
    try {
      await planned.provider.cancel(refOf(planned, entry), signal);
    } catch (error) {
      const failure = toFailure(error);
      // A job that has ended or is gone cannot be canceled, and need not be.
      if (isRetried(failure.code)) isTold = false;
      onError(`canceling ${externalId} at ${planned.provider.name}`, error);
    }
  }
  return isTold;
}

export async function cancelDue(options: BatchOptions, signal: AbortSignal): Promise<void> {
  const { database } = options;
  const now = database.now();
  const rows = await database.write((transaction) =>
    takeCanceledTasks(transaction, {
      limit: limits.batch.pageMax,
      now,
      heldUntil: now + limits.batch.pollIntervalMs,
    }),
  );
  for (const row of rows) {
    const isOld = now - row.created_at > 2 * limits.batch.taskAgeMsMax;
    const isTold = await cancelJobs(begunJobs(row, options), options, signal);
    if (isTold || isOld) await database.write((transaction) => settleCancel(transaction, row));
  }
}

function begunJobs(row: BatchTaskRow, { providers, blobs, onError }: BatchOptions): BegunJob[] {
  try {
    const planned = planJobs(row, providers, blobs);
    const entries = providerStateOf(row)?.jobs;
    const noted: Record<number, { id?: string }> = JSON.parse(row.submission);
    return planned.flatMap((each, index) => {
      const entry = entries?.[index];
      const isOpen = entry?.status === 'SUBMITTED' || entry?.status === 'RUNNING';
      const externalId = entries ? isOpen && entry.external_job_id : noted[index]?.id;
      return externalId ? [{ planned: each, externalId }] : [];
    });
  } catch (error) {
    onError(`canceling the jobs of batch task ${row.key}`, error);
    return [];
  }
}
