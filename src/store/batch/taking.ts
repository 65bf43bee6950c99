/**
 * How processes take batch tasks. A process takes only tasks of providers that it has the settings
 * of. It raises the epoch of a task that it takes, and holds it until a time, which it may extend.
 */

import { batchTaskMoves, openTaskStates } from '../../kernel/lifecycle/batch-task.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import type { BatchTaskRow, Held } from './tasks.ts';

const open = sqlList(openTaskStates);
const takeRowsFor = (event: 'submit' | 'poll') => sql<BatchTaskRow>`
  UPDATE batch_tasks SET epoch = epoch + 1, next_at = :held_until
  WHERE id IN (SELECT id FROM batch_tasks
    WHERE state IN (${sqlList(batchTaskMoves[event].from)})
      AND served_by = :served_by AND next_at <= :now
    ORDER BY next_at, id LIMIT :limit {skipLocked})
  RETURNING *`;
const takeRows = { submit: takeRowsFor('submit'), poll: takeRowsFor('poll') };
const takeGivenUpRows = sql<BatchTaskRow>`
  UPDATE batch_tasks SET epoch = epoch + 1, next_at = :held_until
  WHERE id IN (SELECT id FROM batch_tasks
    WHERE is_cancel_due = 1 AND served_by = :served_by AND next_at <= :now
    ORDER BY next_at, id LIMIT :limit {skipLocked})
  RETURNING *`;
const takeOldRows = sql<BatchTaskRow>`
  UPDATE batch_tasks SET epoch = epoch + 1, next_at = :held_until
  WHERE id IN (SELECT id FROM batch_tasks
    WHERE state IN (${sqlList(batchTaskMoves.fail.from)})
      AND created_at < :before AND next_at <= :now
    ORDER BY created_at LIMIT :limit {skipLocked})
  RETURNING *`;

export interface Taking {
  readonly limit: number;
  readonly now: number;
  /** From then on somebody else may take them. */
  readonly heldUntil: number;
}

export interface ServedTaking extends Taking {
  /** Tasks of these providers, and of no others. */
  readonly servedBy: string;
}

/** Takes tasks that are due for this move. */
export function takeDueTasks(
  transaction: Transaction,
  event: 'submit' | 'poll',
  { servedBy, limit, now, heldUntil }: ServedTaking,
): Promise<BatchTaskRow[]> {
  const parameters = { served_by: servedBy, limit, now, held_until: heldUntil };
  return transaction.run(takeRows[event], parameters);
}

/** Takes tasks that were given up, and whose jobs may still run at the provider. */
export function takeGivenUpTasks(
  transaction: Transaction,
  { servedBy, limit, now, heldUntil }: ServedTaking,
): Promise<BatchTaskRow[]> {
  const parameters = { served_by: servedBy, limit, now, held_until: heldUntil };
  return transaction.run(takeGivenUpRows, parameters);
}

/** Takes open tasks of any provider that were made before a time. */
export function takeOldTasks(
  transaction: Transaction,
  { before, limit, now, heldUntil }: Taking & { readonly before: number },
): Promise<BatchTaskRow[]> {
  return transaction.run(takeOldRows, { before, limit, now, held_until: heldUntil });
}

const isLive = `(state IN (${open}) OR is_cancel_due = 1)`;
const lanes = sql<{ served_by: string | null }>`
  SELECT DISTINCT served_by FROM batch_tasks WHERE state IN (${open})
  UNION SELECT DISTINCT served_by FROM batch_tasks WHERE is_cancel_due = 1`;
const unassigned = sql<BatchTaskRow>`
  SELECT * FROM batch_tasks WHERE served_by IS NULL AND ${isLive} ORDER BY id LIMIT :limit`;
const assign = sql`
  UPDATE batch_tasks SET served_by = :served_by WHERE id = :id AND served_by IS NULL`;

/** The providers of all tasks that something is still to be done for. */
export async function listServing(reader: Reader): Promise<(string | null)[]> {
  return (await reader.run(lanes)).map(({ served_by }) => served_by);
}

/** Tasks of an older store that do not say which providers they need. */
export function listUnassigned(reader: Reader, limit: number): Promise<BatchTaskRow[]> {
  return reader.run(unassigned, { limit });
}

export async function assignProviders(
  transaction: Transaction,
  { id, servedBy }: { readonly id: number; readonly servedBy: string },
): Promise<void> {
  await transaction.run(assign, { id, served_by: servedBy });
}

const renewRow = sql<{ id: number }, 'id' | 'epoch' | 'held_until'>`
  UPDATE batch_tasks SET next_at = :held_until
  WHERE id = :id AND epoch = :epoch AND ${isLive} RETURNING id`;

/** Extends a hold. False: the task was taken away. */
export async function renewHold(
  transaction: Transaction,
  { id, epoch }: Held,
  heldUntil: number,
): Promise<boolean> {
  const renewed = await transaction.run(renewRow, { id, epoch, held_until: heldUntil });
  return renewed.length > 0;
}
