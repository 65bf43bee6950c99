/**
 * Webhook deliveries for ended jobs. A delivery has a due time until it has ended; a sender that
 * takes it postpones that time, so that another sender takes over if the first one dies.
 */
import type { EventKind } from '../../observe/event.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, count, first, write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import type { JobRow } from '../job/jobs.ts';

export interface DeliveryRow {
  readonly key: string;
  readonly seq: number;
  readonly job_id: number;
  readonly kind: EventKind;
  readonly url: string;
  readonly body: string;
  /** Tries so far. */
  readonly attempt: number;
  /** Null: it has ended. */
  readonly due_at: number | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly is_delivered: number;
  readonly created_at: number;
  readonly tried_at: number | null;
}

export interface EndRow extends JobRow {
  readonly seq: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly webhook_url: string | null;
  /** The display name of the job's caller, if it differs from the id. */
  readonly caller_name: string | null;
}

/** Locks the row and creates it if missing: of two readers one waits for the other. */
const lockCursor = sql<{ seq: number }>`
  INSERT INTO cursors (name, seq) VALUES ('outbox', 0)
  ON CONFLICT (name) DO UPDATE SET seq = cursors.seq RETURNING seq`;
const moveCursor = sql`UPDATE cursors SET seq = :seq WHERE name = 'outbox'`;
const newest = sql<{ value: number }>`SELECT value FROM sequence WHERE name = 'events'`;
const ends = sql<EndRow>`
  SELECT jobs.*, events.seq, events.kind, events.at, callers.name AS caller_name
  FROM events JOIN jobs ON jobs.id = events.job_id
  LEFT JOIN callers ON callers.id = jobs.caller
  WHERE events.seq > :after AND events.seq <= :until
    AND events.kind IN ('job_succeeded', 'job_failed', 'job_canceled')
  ORDER BY events.seq LIMIT :limit`;

/**
 * Job ends since the last read, each to one reader only: its writes commit together with the new
 * cursor.
 */
export async function takeEnds(transaction: Transaction, limit: number): Promise<EndRow[]> {
  const after = (await transaction.run(lockCursor))[0]?.seq ?? 0;
  const until = (await transaction.run(newest))[0]?.value ?? 0;
  if (until <= after) return [];
  const found = await transaction.run(ends, { after, until, limit });
  const seq = found.length < limit ? until : (found.at(-1)?.seq ?? until);
  await transaction.run(moveCursor, { seq });
  return found;
}

export type NewDelivery = Pick<
  DeliveryRow,
  'key' | 'seq' | 'job_id' | 'kind' | 'url' | 'body' | 'created_at'
>;

const insert = sqlRows({
  key: 'text',
  seq: 'int',
  job_id: 'int',
  kind: 'text',
  url: 'text',
  body: 'text',
  created_at: 'int',
})`
  INSERT INTO deliveries (key, seq, job_id, kind, url, body, created_at, due_at)
  SELECT :key, :seq, :job_id, :kind, :url, :body, :created_at, :created_at {rows}`;

export async function insertDeliveries(
  transaction: Transaction,
  rows: readonly NewDelivery[],
): Promise<void> {
  await transaction.each(insert, rows);
}

/** Takes due deliveries and postpones them until the given time. */
export const takeDue = all<{ now: number; until: number; limit: number }, DeliveryRow, Transaction>`
  UPDATE deliveries SET due_at = :until, attempt = attempt + 1, tried_at = :now
  WHERE key IN (SELECT key FROM deliveries WHERE due_at <= :now ORDER BY due_at LIMIT :limit
    {skipLocked})
  RETURNING *`;

/** Records how a try ended, unless another one has begun since. */
export const settleDelivery = write<
  Pick<DeliveryRow, 'key' | 'attempt' | 'due_at' | 'status' | 'error' | 'is_delivered'>
>`
  UPDATE deliveries SET due_at = :due_at, status = :status, error = :error,
    is_delivered = :is_delivered
  WHERE key = :key AND attempt = :attempt`;

/** Makes a delivery due again, as if it had not been tried. */
export const replayDelivery = first<
  { key: string; job_id: number; now: number },
  DeliveryRow,
  Transaction
>`
  UPDATE deliveries SET due_at = :now, attempt = 0, is_delivered = 0
  WHERE key = :key AND job_id = :job_id RETURNING *`;

export const listDeliveries = all<{ job_id: number; after: number; limit: number }, DeliveryRow>`
  SELECT * FROM deliveries WHERE job_id = :job_id AND seq > :after ORDER BY seq LIMIT :limit`;

const nextDue = sql<{ due_at: number | null }>`SELECT MIN(due_at) AS due_at FROM deliveries`;

/** When the next one is due; null if there is none. */
export async function nextDueAt(reader: Reader): Promise<number | null> {
  return (await reader.run(nextDue))[0]?.due_at ?? null;
}

const counted = sql<{ waiting: number; retrying: number; failed: number }>`
  SELECT
    (SELECT COUNT(*) FROM deliveries WHERE due_at IS NOT NULL AND attempt <= 1) AS waiting,
    (SELECT COUNT(*) FROM deliveries WHERE due_at IS NOT NULL AND attempt > 1) AS retrying,
    (SELECT COUNT(*) FROM deliveries
      WHERE created_at >= :since AND due_at IS NULL AND is_delivered = 0) AS failed`;

export interface DeliveryCounts {
  readonly waiting: number;
  /** Failed at least once, and will be retried. */
  readonly retrying: number;
  /** Failed finally, created since the given time. */
  readonly failed: number;
}

export async function countDeliveries(
  reader: Reader,
  { since }: { since: number },
): Promise<DeliveryCounts> {
  const [row] = await reader.run(counted, { since });
  const { waiting = 0, retrying = 0, failed = 0 } = row ?? {};
  return { waiting: Number(waiting), retrying: Number(retrying), failed: Number(failed) };
}

/** Removes deliveries that ended before a time. Returns how many. */
export const pruneDeliveries = count<{ before: number; limit: number }>`
  DELETE FROM deliveries WHERE key IN (
    SELECT key FROM deliveries WHERE created_at < :before AND due_at IS NULL
    ORDER BY created_at LIMIT :limit)
  RETURNING key`;
