/** Claiming: a batch of due items, in fair order, leased with their first steps begun. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import { type StepService, stepServices } from '../../kernel/lifecycle/stage.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { type MovedJob, startJobs } from '../job/moves.ts';
import { JobDeltas, settleJobs } from '../job/update-jobs.ts';
import { admitAtGates } from './gates.ts';
import { wakeItems } from './interventions.ts';
import { type Claim, type ClaimedRow, claim } from './moves.ts';
import { gateBit } from './reports.ts';
import { beat, serveRank } from './workers.ts';

export interface ClaimRequest extends Claim {
  readonly lifecycle: Lifecycle;
}

/** Leases items. The steps they begin with are in the history before anyone runs them. */
export async function claimItems(
  transaction: Transaction,
  { worker, take, lifecycle, now }: ClaimRequest,
): Promise<ClaimedRow[]> {
  // The heartbeat is the first statement; its result is awaited with those that follow.
  const beating = beat(transaction, worker, now);
  const [isKnown, rows] = await Promise.all([beating, claim(transaction, { worker, take, now })]);
  if (!isKnown) {
    throw new Failure('lease_lost', `worker ${worker} has been given up, and can claim nothing`);
  }
  if (rows.length === 0) return rows;
  const jobIds = [...new Set(rows.map((row) => row.job_id))].sort((a, b) => a - b);
  const started = await startJobs(transaction, jobIds, now);
  const events = started.map((job) => jobStarted(job, worker));
  for (const row of rows) events.push(...stepsStarted(row, lifecycle, worker));
  await serveRank(transaction, { worker, rank: rows.at(-1)?.rank ?? 0 });
  await appendEvents(transaction, events, now);
  return rows;
}

function jobStarted({ id, from, to, attempt }: MovedJob, worker: string): NewEvent {
  const isAfterWait = from === jobState.retry_pending;
  const reason = isAfterWait ? 'the time of a retry has come' : 'an item was claimed';
  return { kind: 'job_started', jobId: id, attempt, worker, detail: { from, to, reason } };
}

function stepsStarted(row: ClaimedRow, lifecycle: Lifecycle, worker: string): NewEvent[] {
  return lifecycle.ready(row.progress).map((step) => ({
    kind: 'step_started',
    jobId: row.job_id,
    itemId: row.id,
    step,
    attempt: row.attempt + 1,
    worker,
  }));
}

/** Puts items whose time has come back into the queue. Returns how many. */
export async function wakeDue(
  transaction: Transaction,
  { lifecycle, limit, now }: { lifecycle: Lifecycle; limit: number; now: number },
): Promise<number> {
  const rows = await wakeItems(transaction, { now, limit, gateBit: gateBit(lifecycle) });
  const deltas = new JobDeltas();
  // What holds a place at its gate waited for the gate's pace, and was not counted as waiting.
  for (const row of rows) if (row.gate_held === 0) deltas.of(row.job_id).waiting--;
  await admitAtGates(transaction, gatesOf(rows), now);
  const events = await settleJobs(transaction, deltas, now);
  await appendEvents(transaction, events, now);
  return rows.length;
}

export function gatesOf(rows: readonly { readonly gate: string | null }[]): string[] {
  return rows.flatMap(({ gate }) => (gate === null ? [] : [gate]));
}

const nextDue = sql<{ due_at: number | null }>`
  SELECT MIN(due_at) AS due_at FROM timers`;

/** When the next item wakes by the clock, if any. */
export async function nextDueAt(reader: Reader): Promise<number | undefined> {
  return (await reader.run(nextDue))[0]?.due_at ?? undefined;
}

const queueNames = stepServices.map((name) => `queue_${name}` as const);
type ServiceQueueName = (typeof queueNames)[number];

const anyWork = sql<
  { turn: number | null; suspect: number | null } & Readonly<
    Record<ServiceQueueName, number | null>
  >
>`
  SELECT (SELECT item_id FROM turns ORDER BY rank, item_id LIMIT 1) AS turn,
    (SELECT lone_deaths FROM suspects ORDER BY lone_deaths, rank, item_id LIMIT 1) AS suspect,
    ${stepServices
      .map(
        (name) => `(SELECT item_id FROM service_queue WHERE service = '${name}' LIMIT 1)
        AS queue_${name}`,
      )
      .join(', ')}`;

export interface Work {
  readonly hasTurn: boolean;
  /** Where items wait for a place. */
  readonly serviceQueues: ReadonlySet<StepService>;
  /** The fewest lone deaths of an item that waits to run alone; undefined where none does. */
  readonly suspectLoneDeaths: number | undefined;
}

/** What waits to be claimed. */
export async function lookForWork(reader: Reader): Promise<Work> {
  const [found] = await reader.run(anyWork);
  return {
    hasTurn: (found?.turn ?? null) !== null,
    serviceQueues: new Set(
      stepServices.filter((name) => (found?.[`queue_${name}`] ?? null) !== null),
    ),
    suspectLoneDeaths: found?.suspect ?? undefined,
  };
}
