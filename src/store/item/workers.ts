/** The processes that hold leases. One row beats for all leases of a worker. */
import { stepServices } from '../../kernel/lifecycle/stage.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { forgetClaimsOf } from './queues.ts';

export interface WorkerRow {
  readonly id: string;
  /** Machine, boot and process namespace: within one, a pid can be asked whether it lives. */
  readonly host: string;
  readonly pid: number;
  /**
   * When the process began, as its machine tells it: a pid alone may have been given away again.
   */
  readonly process_started: string;
  readonly beat_at: number;
}

const insert = sql`
  INSERT INTO workers (id, host, pid, process_started, beat_at)
  VALUES (:id, :host, :pid, :process_started, :beat_at)`;
const beatRow = sql<{ id: string }>`
  UPDATE workers SET beat_at = :now WHERE id = :id RETURNING id`;
const serve = sql`
  UPDATE workers SET served_rank = {greatest}(served_rank, :rank) WHERE id = :worker`;
const list = sql<WorkerRow>`SELECT id, host, pid, process_started, beat_at FROM workers`;
const lock = sql<WorkerRow>`
  SELECT id, host, pid, process_started, beat_at FROM workers WHERE id = :id {forUpdate}`;
const remove = sql`DELETE FROM workers WHERE id = :id`;
const firstInServiceQueues = stepServices.map(
  (name) => `UNION ALL SELECT (SELECT rank FROM service_queue WHERE service = '${name}'
    ORDER BY rank LIMIT 1)`,
);
/** An item in the queue of a service is not served: virtual time is not past the first one. */
const present = sql<{ rank: number | null }>`
  SELECT MIN(rank) AS rank FROM (
    SELECT MAX(rank) AS rank FROM (
      SELECT MAX(served_rank) AS rank FROM workers
      UNION ALL SELECT value FROM sequence WHERE name = 'served_rank') AS served
    ${firstInServiceQueues.join('\n    ')}) AS open`;
/** What a worker has served counts after it has gone. */
const keepRank = sql`
  INSERT INTO sequence (name, value)
  SELECT 'served_rank', served_rank FROM workers WHERE id = :id
  ON CONFLICT (name) DO UPDATE SET value = {greatest}(sequence.value, excluded.value)`;

export async function registerWorker(transaction: Transaction, row: WorkerRow): Promise<void> {
  await transaction.run(insert, { ...row });
}

/**
 * False: the row is gone, and with it every lease of this worker. A claim beats first: it holds the
 * row until it commits, so a rescuer sees either the claim or a worker that it may give up.
 */
export async function beat(transaction: Transaction, id: string, now: number): Promise<boolean> {
  return (await transaction.run(beatRow, { id, now })).length > 0;
}

/** Virtual time moves with what is served (see `kernel/fairness.ts`). */
export async function serveRank(
  transaction: Transaction,
  { worker, rank }: { worker: string; rank: number },
): Promise<void> {
  await transaction.run(serve, { worker, rank });
}

export async function virtualTime(reader: Reader): Promise<number> {
  return (await reader.run(present))[0]?.rank ?? 0;
}

export function listWorkers(reader: Reader): Promise<WorkerRow[]> {
  return reader.run(list);
}

/** Reads a worker that is about to be given up; it can claim nothing more until then. */
export async function lockWorker(
  transaction: Transaction,
  id: string,
): Promise<WorkerRow | undefined> {
  return (await transaction.run(lock, { id }))[0];
}

/** To be called when the worker's leases have been taken: nothing leads to them afterwards. */
export async function removeWorker(transaction: Transaction, id: string): Promise<void> {
  await forgetClaimsOf(transaction, id);
  await transaction.run(keepRank, { id });
  await transaction.run(remove, { id });
}
