/**
 * Job timeouts. Open items of a job that has run longer than allowed fail, even while leased;
 * finished items stay. A retry gives the job its whole time again. Any process may detect it first:
 * under the locks, the next one finds nothing left to do.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { isCountedWaiting } from '../../kernel/lifecycle/item-wait.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { pruneInPlaceOf } from '../../store/document/prune.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { holdFences, sweptItems } from '../../store/item/fence.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import {
  type FailedItem,
  failOpen,
  lockSwept,
  type OpenRow,
} from '../../store/item/interventions.ts';
import { getJobById, type JobRow, listOverdue } from '../../store/job/jobs.ts';
import { JobDeltas, settleJobs } from '../../store/job/update-jobs.ts';
import { failedOutside } from './error-record.ts';

export interface DeadlineOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  /** These items were taken away: work on them in this process can stop. */
  readonly revoke: (itemIds: readonly number[]) => void;
}

/** Ends the open items of every job that has timed out. Returns how many. */
export async function endOverdue(options: DeadlineOptions): Promise<number> {
  const { database, revoke } = options;
  const page = { now: database.now(), limit: limits.loop.pruneBatchMax };
  let ended = 0;
  for (const { id } of await listOverdue(database, page)) {
    const before = ended;
    // Like a cancel: a bounded number at a time, so that other writers are not blocked.
    for (const part of sweptItems.cancel.keys()) {
      for (let after = 0; ; ) {
        const isFirst = ended === before;
        const ids = await database.write((transaction) =>
          endSome(transaction, { ...options, jobId: id, part, after, isFirst }),
        );
        revoke(ids);
        ended += ids.length;
        const last = ids.at(-1);
        if (last === undefined) break;
        after = last;
      }
    }
  }
  return ended;
}

type Ending = DeadlineOptions & {
  readonly jobId: number;
  readonly part: number;
  readonly after: number;
  readonly isFirst: boolean;
};

/** Items that another process is moving are left to the next run. */
async function endSome(transaction: Transaction, ending: Ending): Promise<number[]> {
  const { database, lifecycle, jobId, isFirst, part, after } = ending;
  const now = database.now();
  await holdFences(transaction, [jobId]);
  const limit = limits.sweep.itemsMax;
  const rows = await lockSwept(transaction, { jobId, sweep: 'cancel', part, after, limit });
  const job = await getJobById(transaction, jobId);
  if (!job || job.deadline_at === null || job.deadline_at > now || rows.length === 0) return [];
  const failure = timeOver(job);
  const deltas = new JobDeltas();
  const delta = deltas.of(jobId);
  delta.failed = rows.length;
  // What holds a place at its gate waited for the gate's pace, and was not counted as waiting.
  delta.waiting = -rows.filter(isCountedWaiting).length;
  const ends = rows.map((row) => endOf(row, { lifecycle, failure, now }));
  const events: NewEvent[] = isFirst ? [overdueEvent(job, failure)] : [];
  events.push(...ends.map(({ event }) => event));
  await failOpen(transaction, ends, now);
  events.push(...(await pruneInPlaceOf(transaction, rows, lifecycle)));
  await admitAtGates(transaction, gatesOf(rows.filter(({ gate_held }) => gate_held === 1)), now);
  events.push(...(await settleJobs(transaction, deltas, now)));
  await appendEvents(transaction, events, now);
  return rows.map(({ id }) => id);
}

function timeOver({ max_wall_seconds: seconds }: JobRow): Failure {
  return new Failure('timeout_hard', `the job ran for longer than its ${seconds} s`);
}

function overdueEvent(job: JobRow, failure: Failure): NewEvent {
  const { state, max_wall_seconds } = job;
  const detail = {
    from: state,
    to: state,
    reason: failure.code,
    message: failure.message,
    max_wall_seconds,
  };
  return { kind: 'job_overdue', jobId: job.id, attempt: job.attempt, detail };
}

function endOf(
  row: OpenRow,
  { lifecycle, failure, now }: { lifecycle: Lifecycle; failure: Failure; now: number },
): FailedItem & { event: NewEvent } {
  const { id, worker } = row;
  // A try in progress counts; a waiting item has made only the tries that failed.
  const attempt = row.attempt + (worker === null ? 0 : 1);
  return { id, ...failedOutside(row, { lifecycle, failure, attempt, worker, now }) };
}
