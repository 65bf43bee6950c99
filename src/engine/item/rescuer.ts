/**
 * Takes the leases of dead workers. On the same machine a dead process is seen immediately; on
 * another, by its missing heartbeat. An item that was the only one of too many dying workers is
 * taken to be the cause (docs/decisions/0064), and ends in the inbox.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import { failpoint } from '../../observe/failpoint.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import { failUnheld, type MovedRow } from '../../store/item/interventions.ts';
import { type TakenLeases, takeLeases } from '../../store/item/lost-leases.ts';
import { listWorkers, lockWorker, removeWorker, type WorkerRow } from '../../store/item/workers.ts';
import { JobDeltas, settleJobs } from '../../store/job/update-jobs.ts';
import type { Ring } from '../commit-signal.ts';
import { failedOutside } from './error-record.ts';
import type { Liveness } from './liveness.ts';

export interface RescuerOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly liveness: Liveness;
  readonly ring: (ring: Ring) => void;
}

/** Why a worker counts as dead, in a sentence; undefined while it is alive. */
export function whyDead(worker: WorkerRow, liveness: Liveness, now: number): string | undefined {
  const isHere = worker.host === liveness.host;
  if (isHere && !liveness.isAlive(worker.pid, worker.process_started)) {
    return `process ${worker.pid} has ended`;
  }
  const silentMs = now - worker.beat_at;
  if (silentMs <= limits.lease.ttlMs) return undefined;
  return `no heartbeat for ${Math.round(silentMs / 1000)} s`;
}

/** Releases every lease of every dead worker. Returns the number of items that continue. */
export async function rescue(options: RescuerOptions, self?: string): Promise<number> {
  const { database, liveness, world, ring } = options;
  let rescued = 0;
  for (const worker of await listWorkers(database)) {
    if (worker.id === self || !whyDead(worker, liveness, database.now())) continue;
    rescued += await database.write(async (transaction) => {
      const count = await giveUp(transaction, worker.id, options);
      failpoint(world, 'rescue.before-commit');
      return count;
    });
    failpoint(world, 'rescue.after-commit');
  }
  if (rescued > 0) ring('work');
  return rescued;
}

/**
 * Checks again under the lock: the worker may have sent a heartbeat, or been given up, meanwhile.
 */
async function giveUp(
  transaction: Transaction,
  id: string,
  options: RescuerOptions,
): Promise<number> {
  const worker = await lockWorker(transaction, id);
  const reason = worker && whyDead(worker, options.liveness, options.database.now());
  if (!reason) return 0;
  const count = await takeFrom(transaction, { worker: id, reason }, options);
  await removeWorker(transaction, id);
  return count;
}

interface Taking extends Pick<TakenLeases, 'worker' | 'stuck'> {
  readonly reason: string;
}

/** Takes the worker's leases. Returns how many. */
export async function takeFrom(
  transaction: Transaction,
  { worker, reason, stuck }: Taking,
  { database, lifecycle }: Pick<RescuerOptions, 'database' | 'lifecycle'>,
): Promise<number> {
  const now = database.now();
  const code = stuck ? 'stage_stuck' : 'timeout_soft';
  const rows = await takeLeases(transaction, { worker, isDead: !stuck, stuck });
  const events: NewEvent[] = rows.map((row) => ({
    kind: 'lease_lost',
    jobId: row.job_id,
    itemId: row.id,
    step: lifecycle.stepOf(row.progress),
    worker,
    detail: { code, reason, ...(stuck ? { stalls: row.stalls } : deathsOf(row)) },
  }));
  const blamed = rows.filter(stuck ? isStuckAgain : isBlamed);
  const why = stuck ? stuckAgain : diedAgain;
  events.push(...(await blame(transaction, { blamed, worker, lifecycle, now, why })));
  await appendEvents(transaction, events, now);
  return rows.length;
}

function deathsOf({ crashes, lone_deaths }: MovedRow): Record<string, number> {
  return { crashes, ...(lone_deaths > 0 && { lone_deaths }) };
}

function isBlamed({ lone_deaths }: MovedRow): boolean {
  return lone_deaths >= limits.suspect.loneDeathsMax;
}

function isStuckAgain({ stalls }: MovedRow): boolean {
  return stalls >= limits.lease.stallsMax;
}

type Why = (row: MovedRow) => Failure;

const diedAgain: Why = ({ crashes, lone_deaths }) =>
  new Failure(
    'crashed_repeatedly',
    `${crashes} workers died while they held this item; ${lone_deaths} of them held no other`,
  );

const stuckAgain: Why = ({ stalls }) => {
  const minutes = limits.loop.stageStuckMs / 60_000;
  return new Failure(
    'stage_stuck',
    `it was started ${stalls} times and made no progress for ${minutes} min`,
  );
};

interface Blame {
  readonly blamed: readonly MovedRow[];
  readonly worker: string;
  readonly lifecycle: Lifecycle;
  readonly now: number;
  readonly why: Why;
}

/** Ends the items that were taken from too many workers. */
async function blame(transaction: Transaction, input: Blame): Promise<NewEvent[]> {
  const { blamed, worker, lifecycle, now, why } = input;
  if (blamed.length === 0) return [];
  const deltas = new JobDeltas();
  const events: NewEvent[] = [];
  const failed = blamed.map((row) => {
    const attempt = Math.max(row.crashes, row.stalls);
    const end = { lifecycle, failure: why(row), attempt, worker, now };
    const { event, error } = failedOutside(row, end);
    deltas.of(row.job_id).failed++;
    events.push(event);
    const { id, rank, lone_deaths } = row;
    return { id, rank, lone_deaths, attempt, error };
  });
  await failUnheld(transaction, failed, now);
  await admitAtGates(transaction, gatesOf(blamed), now);
  return [...events, ...(await settleJobs(transaction, deltas, now))];
}
