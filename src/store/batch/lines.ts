/** What items have left to batch tasks, line by line, and what came back for each. */
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { wakeFromTask } from '../item/interventions.ts';
import { extendReservation, releaseReservation } from '../money/budgets.ts';

export interface NewLines {
  readonly itemId: number;
  readonly caller: string;
  readonly step: string;
  readonly taskType: string;
  readonly model: string;
  readonly requests: readonly Readonly<Record<string, unknown>>[];
}

const insertLine = sqlRows({ ordinal: 'int', request: 'json', key: 'text' })`
  INSERT INTO batch_lines (item_id, caller, step, ordinal, task_type, model, request, key,
    created_at)
  SELECT :item_id, :caller, :step, :ordinal, :task_type, :model, :request, :key, :now {rows}`;

export async function insertLines(
  transaction: Transaction,
  { itemId, caller, step, taskType, model, requests }: NewLines,
  now: number,
): Promise<void> {
  if (requests.length === 0) return;
  await transaction.each(
    insertLine,
    requests.map((request, ordinal) => ({
      ordinal,
      request: JSON.stringify(request),
      key: typeof request.key === 'string' ? request.key : null,
    })),
    { item_id: itemId, caller, step, task_type: taskType, model, now },
  );
  // From now on it is not a call that is paid for, but a batch.
  await extendReservation(transaction, {
    itemId,
    step,
    until: now + limits.batch.reservationMsMax,
  });
}

const openOfItem = sql<{ id: number }>`
  SELECT id FROM batch_lines WHERE item_id = :item_id AND status = 'open'
  ORDER BY id LIMIT 1 {forUpdate}`;

/**
 * Runs in the transaction in which an item begins to wait for lines that were open when its step
 * read them. If a batch has answered the last of them since, it found no item to wake: the item
 * goes back to its turn. A line that is still open is locked, so its answer is committed after this
 * transaction, and finds the item waiting.
 */
export async function wakeIfAnswered(
  transaction: Transaction,
  itemId: number,
): Promise<readonly NewEvent[]> {
  const open = await transaction.run(openOfItem, { item_id: itemId });
  return open.length > 0 ? [] : wakeItems(transaction, [itemId]);
}

async function wakeItems(transaction: Transaction, ids: readonly number[]): Promise<NewEvent[]> {
  const woken = await wakeFromTask(transaction, ids);
  return woken.map(({ id, job_id }) => ({ kind: 'item_woken', jobId: job_id, itemId: id }));
}

const takeRows = sql<{ id: number }>`
  DELETE FROM batch_lines WHERE id {amongIds} AND status = 'ok' RETURNING id`;

/** Takes answered lines, so that no other transaction stores their answers. Returns those taken. */
export async function takeLines(
  transaction: Transaction,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await transaction.run(takeRows, { ids: JSON.stringify(ids) });
  return rows.map(({ id }) => id);
}

export interface LeftRow {
  readonly id: number;
  readonly job_id: number;
  readonly caller: string;
  readonly corpus: string;
  readonly source: string;
}

// The order is given: the lines first, which are few, and of each its item.
const left = sql<LeftRow>`
  SELECT DISTINCT items.id, items.job_id, items.caller, items.corpus, items.source
  FROM batch_lines CROSS JOIN items
  WHERE batch_lines.status = 'ok' AND batch_lines.item_id > :after
    AND items.id = batch_lines.item_id
    AND (items.waits_on IS NULL OR items.waits_on = '${place.person}'
      OR (items.waits_on = '${place.task}' AND EXISTS (SELECT 1 FROM batch_lines AS other
        WHERE other.key = batch_lines.key AND other.caller = batch_lines.caller
          AND other.status = 'open' AND other.task_id IS NULL)))
  ORDER BY items.id LIMIT :limit`;

/**
 * Items that answers have come for, and that do not come for them: they have ended, or pause, or
 * wait for more while another document waits for the same answer.
 */
export function listLeft(
  reader: Reader,
  page: { readonly after: number; readonly limit: number },
): Promise<LeftRow[]> {
  return reader.run(left, page);
}

const answeredOfItem = sql<LineRow & { readonly step: string }>`
  SELECT * FROM batch_lines WHERE item_id = :item_id AND status = 'ok' ORDER BY step, ordinal`;

export async function answeredLines(
  reader: Reader,
  itemId: number,
): Promise<Map<string, LineRow[]>> {
  return Map.groupBy(await reader.run(answeredOfItem, { item_id: itemId }), ({ step }) => step);
}

const dropRows = sql`
  DELETE FROM batch_lines WHERE item_id = :item_id AND step = :step AND status = 'failed'`;

/** Deletes failed lines, so that a retry requests them again, and nothing else. */
export async function dropFailedLines(
  transaction: Transaction,
  itemId: number,
  step: string,
): Promise<void> {
  await transaction.run(dropRows, { item_id: itemId, step });
}

export interface LineRow {
  readonly id: number;
  readonly item_id: number;
  readonly ordinal: number;
  readonly model: string;
  readonly request: string;
  readonly attempt: number;
  readonly status: 'open' | 'ok' | 'failed';
  readonly result_key: string | null;
  readonly result_at: number | null;
  readonly result_bytes: number | null;
  readonly error: string | null;
}

const ofStep = sql<LineRow>`
  SELECT * FROM batch_lines WHERE item_id = :item_id AND step = :step ORDER BY ordinal`;

export function linesOfStep(reader: Reader, itemId: number, step: string): Promise<LineRow[]> {
  return reader.run(ofStep, { item_id: itemId, step });
}

export interface UnassignedGroup {
  readonly task_type: string;
  readonly model: string;
  readonly caller: string;
  readonly attempt: number;
  readonly count: number;
  readonly oldest: number;
}

/**
 * The same is being asked already, or has been answered for an item that will keep the answer. Not
 * for ever: an answer that nobody keeps must not hold up those who wait for it.
 */
const isAsked = `(created_at > :asked_since AND EXISTS (
    SELECT 1 FROM batch_lines AS other WHERE other.key = batch_lines.key
      AND other.caller = batch_lines.caller AND other.status IN ('open', 'ok')
      AND (other.task_id IS NOT NULL OR other.id < batch_lines.id)))`;
const isUnassigned = `task_id IS NULL AND status = 'open'`;
const loose = sql<UnassignedGroup>`
  SELECT task_type, model, caller, attempt, COUNT(*) AS count, MIN(created_at) AS oldest
  FROM batch_lines WHERE ${isUnassigned} AND NOT ${isAsked}
  GROUP BY task_type, model, caller, attempt`;
const dropAbandoned = sql<{ item_id: number; step: string }>`
  DELETE FROM batch_lines WHERE ${isUnassigned} AND NOT EXISTS (
    SELECT 1 FROM items WHERE items.id = batch_lines.item_id AND items.waits_on IS NOT NULL)
  RETURNING item_id, step`;
const ofGroup = sql<LineRow>`
  SELECT * FROM batch_lines WHERE ${isUnassigned} AND task_type = :task_type
    AND model = :model AND caller = :caller AND attempt = :attempt AND NOT ${isAsked}
  ORDER BY id LIMIT :limit`;

/** Lines that no task has and that are to be asked, by what may go into one task. */
export function listUnassigned(reader: Reader, now: number): Promise<UnassignedGroup[]> {
  return reader.run(loose, { asked_since: askedSince(now) });
}

function askedSince(now: number): number {
  return now - limits.batch.taskAgeMsMax;
}

const known = sql<{ id: number }>`
  SELECT id FROM batch_lines WHERE ${isUnassigned} AND EXISTS (
    SELECT 1 FROM results WHERE results.key = batch_lines.key)
  ORDER BY id LIMIT :limit`;
const dropKnownRows = sql<{ item_id: number }>`
  DELETE FROM batch_lines WHERE id {amongIds} AND ${isUnassigned} RETURNING item_id`;

/** Lines that need not be asked any more: an answer was kept since they were written down. */
export async function listKnown(reader: Reader): Promise<number[]> {
  const rows = await reader.run(known, { limit: limits.loop.pruneBatchMax });
  return rows.map(({ id }) => id);
}

/** Deletes such lines, and wakes the items that have no other open line. */
export async function dropKnown(
  transaction: Transaction,
  ids: readonly number[],
  now: number,
): Promise<void> {
  const dropped = await transaction.run(dropKnownRows, { ids: JSON.stringify(ids) });
  const events: NewEvent[] = [];
  for (const itemId of new Set(dropped.map(({ item_id }) => item_id))) {
    events.push(...(await wakeIfAnswered(transaction, itemId)));
  }
  await appendEvents(transaction, events, now);
}

/**
 * Lines whose item was canceled or deleted before they went anywhere. Where a step has none left,
 * what was set aside for it comes back.
 */
export async function dropUnwanted(transaction: Transaction): Promise<void> {
  const dropped = await transaction.run(dropAbandoned);
  const steps = new Map(dropped.map((row) => [`${row.item_id} ${row.step}`, row]));
  for (const { item_id: itemId, step } of steps.values()) {
    const left = await linesOfStep(transaction, itemId, step);
    if (left.length === 0) await releaseReservation(transaction, { itemId, step });
  }
}

export function linesOfGroup(
  reader: Reader,
  { task_type, model, caller, attempt }: UnassignedGroup,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<LineRow[]> {
  const asked_since = askedSince(now);
  return reader.run(ofGroup, { task_type, model, caller, attempt, limit, asked_since });
}

const assignRows = sql<{ id: number }>`
  UPDATE batch_lines SET task_id = :task_id
  WHERE id {amongIds} AND task_id IS NULL AND status = 'open' RETURNING id`;

/** Gives lines to a task. Returns how many were still free. */
export async function assignLines(
  transaction: Transaction,
  taskId: number,
  ids: readonly number[],
): Promise<number> {
  const parameters = { task_id: taskId, ids: JSON.stringify(ids) };
  return (await transaction.run(assignRows, parameters)).length;
}

const ofTask = sql<LineRow>`
  SELECT * FROM batch_lines WHERE task_id = :task_id AND status = 'open' ORDER BY id`;

export function linesOfTask(reader: Reader, taskId: number): Promise<LineRow[]> {
  return reader.run(ofTask, { task_id: taskId });
}

export interface LineOutcome {
  readonly id: number;
  readonly status: 'ok' | 'failed';
  readonly result:
    | { readonly key: string; readonly at: number; readonly bytes: number }
    | undefined;
  readonly error: string | undefined;
}

const settleRow = sqlRows({
  id: 'int',
  status: 'text',
  result_key: 'text',
  result_at: 'int',
  result_bytes: 'int',
  error: 'text',
})<{ id: number }>`
  UPDATE batch_lines SET status = :status, result_key = :result_key, result_at = :result_at,
    result_bytes = :result_bytes, error = :error {rows}
  WHERE batch_lines.id = :id RETURNING batch_lines.id`;
const looseAgain = sql`
  UPDATE batch_lines SET task_id = NULL, attempt = attempt + 1, created_at = :now
  WHERE id {amongIds}`;
const finishedItems = sql<{ item_id: number }>`
  SELECT DISTINCT item_id FROM batch_lines WHERE id {amongIds} AND NOT EXISTS (
    SELECT 1 FROM batch_lines AS other WHERE other.item_id = batch_lines.item_id
      AND other.status = 'open')`;

/** Stores the results, frees the lines to send again, and wakes items without an open line. */
export async function settleLines(
  transaction: Transaction,
  { outcomes, again }: { outcomes: readonly LineOutcome[]; again: readonly number[] },
  now: number,
): Promise<void> {
  await transaction.hits(
    settleRow,
    outcomes.map(({ id, status, result, error }) => ({
      id,
      status,
      result_key: result?.key ?? null,
      result_at: result?.at ?? null,
      result_bytes: result?.bytes ?? null,
      error: error ?? null,
    })),
  );
  if (again.length > 0) await transaction.run(looseAgain, { ids: JSON.stringify(again), now });
  const ids = JSON.stringify(outcomes.map(({ id }) => id));
  const items = await transaction.run(finishedItems, { ids });
  const events = await wakeItems(
    transaction,
    items.map(({ item_id }) => item_id),
  );
  await appendEvents(transaction, events, now);
}

const laneOf = sql<{ lane: string }>`SELECT lane FROM jobs WHERE id = :id`;

export async function isCheapLane(reader: Reader, jobId: number): Promise<boolean> {
  return (await reader.run(laneOf, { id: jobId }))[0]?.lane === 'cheap';
}
