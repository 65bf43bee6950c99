/** Reading items, and the inbox: the items that ended in failure, grouped by cause. */

import { endings, itemMoves, place, type WaitsOn } from '../../kernel/lifecycle/item-wait.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { type PackedText, packText, unpackText } from '../driver/packing.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface ItemRow {
  readonly id: number;
  readonly job_id: number;
  readonly caller: string;
  readonly corpus: string;
  readonly document_id: string;
  readonly source_kind: string;
  readonly source: string;
  readonly gate: string | null;
  readonly step: string;
  readonly progress: number;
  readonly waits_on: WaitsOn | null;
  readonly rank: number;
  readonly due_at: number | null;
  readonly worker: string | null;
  readonly epoch: number;
  readonly attempt: number;
  readonly crashes: number;
  readonly lone_deaths: number;
  readonly stalls: number;
  /** The last failure of its present step: what it failed with, or waits after. */
  readonly error: string | null;
  readonly failed_at: number | null;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_cents: number;
  /** Metadata that the submitter stated, as JSON. */
  readonly metadata: string | null;
  readonly created_at: number;
  readonly moved_at: number;
}

/** What is stored of a failure. The names are part of the HTTP contract. */
export interface ErrorRecord {
  readonly stage: string;
  readonly step: string;
  readonly code: string;
  readonly error_code: string;
  readonly kind: string;
  readonly message: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly at: string;
}

/**
 * The number of the try that an open item is in or waits for; of one that failed, how many tries
 * were made. What older stores hold of failed items is in their error only.
 */
export function attemptOf({
  attempt,
  error,
  waits_on,
}: Pick<ItemRow, 'attempt' | 'error' | 'waits_on'>): number {
  if (waits_on !== null || error === null) return attempt + 1;
  const { context }: Partial<ErrorRecord> = JSON.parse(error);
  return Math.max(attempt, Number(context?.attempt ?? 0));
}

const byId = sql<ItemRow>`SELECT * FROM items WHERE id = :id AND caller = :caller`;
const ofJob = sql<ItemRow>`
  SELECT * FROM items WHERE job_id = :job_id AND id > :after ORDER BY id LIMIT :limit`;
const endedOfJob = sql<ItemRow>`
  SELECT * FROM items
  WHERE job_id = :job_id AND step IN (${sqlList(itemMoves.restart.from)}) ORDER BY id`;
const leasesAmong = sql<LeaseRow>`
  SELECT id, epoch, crashes FROM items
  WHERE id {amongIds} AND worker = :worker AND waits_on = '${place.worker}'`;

export async function getItem(
  reader: Reader,
  id: number,
  caller: string,
): Promise<ItemRow | undefined> {
  return (await reader.run(byId, { id, caller }))[0];
}

const amongIds = sql<ItemRow>`SELECT * FROM items WHERE id {amongIds} AND caller = :caller`;

/** Those of the items that are the caller's. */
export function getItems(
  reader: Reader,
  ids: readonly number[],
  caller: string,
): Promise<ItemRow[]> {
  return reader.run(amongIds, { ids: JSON.stringify(ids), caller });
}

const anyone = sql<{ job_id: number }>`SELECT job_id FROM items WHERE id = :id`;

/** The job that an item is part of, of any caller. */
export async function jobOfItem(reader: Reader, id: number): Promise<number | undefined> {
  return (await reader.run(anyone, { id }))[0]?.job_id;
}

export function listItems(
  reader: Reader,
  { jobId, after, limit }: { jobId: number; after: number; limit: number },
): Promise<ItemRow[]> {
  return reader.run(ofJob, { job_id: jobId, after, limit });
}

/** The last of the next items of a job: the end of a range that is searched in one go. */
const endOfRange = sql<{ last: number | null }>`
  SELECT MAX(id) AS last FROM (
    SELECT id FROM items WHERE job_id = :job_id AND id > :after ORDER BY id LIMIT :scanned
  ) AS range`;
const inRange = (condition: string) => sql<ItemRow>`
  SELECT * FROM items WHERE job_id = :job_id AND id > :after AND id <= :last AND ${condition}
  ORDER BY id LIMIT :limit`;
const itemsInRange = {
  step: inRange('step = :state'),
  working: inRange(`waits_on = '${place.worker}'`),
  waiting: inRange(`waits_on IS NOT NULL AND waits_on <> '${place.worker}'`),
};

export interface ItemRange {
  readonly jobId: number;
  /** What is listed: a step, `working`, or `waiting`. */
  readonly state: string;
  readonly after: number;
  readonly limit: number;
  /** Items that one call looks at. */
  readonly scanned: number;
}

/**
 * The items of a job in one state. No index has the state, because every step would have to update
 * it, so a call looks at a range of bounded size. `last` is its end; undefined at the end of the
 * job.
 */
export async function listItemsInState(
  reader: Reader,
  { jobId, state, after, limit, scanned }: ItemRange,
): Promise<{ readonly rows: readonly ItemRow[]; readonly last: number | undefined }> {
  const [range] = await reader.run(endOfRange, { job_id: jobId, after, scanned });
  if (!range || range.last === null) return { rows: [], last: undefined };
  const statement = itemsInRange[state === 'working' || state === 'waiting' ? state : 'step'];
  const asked = { job_id: jobId, after, last: range.last, limit, state };
  const rows = await reader.run(statement, asked);
  return { rows, last: rows.length === limit ? rows.at(-1)?.id : range.last };
}

export function listEnded(reader: Reader, jobId: number): Promise<ItemRow[]> {
  return reader.run(endedOfJob, { job_id: jobId });
}

export interface LeaseRow {
  readonly id: number;
  readonly epoch: number;
  readonly crashes: number;
}

/** Those of the items that the worker still holds. */
export function listLeases(
  reader: Reader,
  worker: string,
  itemIds: readonly number[],
): Promise<LeaseRow[]> {
  return reader.run(leasesAmong, { worker, ids: JSON.stringify(itemIds) });
}

const insertInput = sqlRows({
  item_id: 'int',
  kind: 'text',
  title: 'text',
  body: 'text',
  packed: 'bytes',
})`INSERT INTO inputs (item_id, kind, title, body, packed)
  SELECT :item_id, :kind, :title, :body, :packed {rows}`;
const inputOf = sql<InputRow & PackedText>`
  SELECT kind, title, body, packed FROM inputs WHERE item_id = :item_id`;

export interface InputRow {
  /** `blob`: the body is the key of stored bytes; the title is the name of the file or page. */
  readonly kind: 'text' | 'markdown' | 'html' | 'blob';
  readonly title: string | null;
  readonly body: string;
}

/** Inline documents are on disk with the job that brought them. */
export async function insertInputs(
  transaction: Transaction,
  rows: readonly (InputRow & { item_id: number })[],
): Promise<void> {
  await transaction.each(
    insertInput,
    rows.map(({ item_id, kind, title, body }) => {
      // A key is looked up by the column.
      const stored = kind === 'blob' ? { body, packed: null } : packText(body);
      return { item_id, kind, title, ...stored };
    }),
  );
}

export async function getInput(reader: Reader, itemId: number): Promise<InputRow | undefined> {
  const [row] = await reader.run(inputOf, { item_id: itemId });
  return row && { kind: row.kind, title: row.title, body: unpackText(row) };
}

/** An open item that nothing will move, unless a sweep of its job will. */
const isUnmoved = `
    (waits_on IS NULL AND step NOT IN (${sqlList(endings)}))
    OR (waits_on = '${place.turn}' AND NOT EXISTS (
      SELECT 1 FROM turns WHERE turns.rank = items.rank AND turns.item_id = items.id)
      AND NOT EXISTS (SELECT 1 FROM suspects WHERE suspects.lone_deaths = items.lone_deaths
        AND suspects.rank = items.rank AND suspects.item_id = items.id)
      AND NOT EXISTS (SELECT 1 FROM service_queue WHERE service_queue.item_id = items.id))
    OR (waits_on = '${place.time}' AND NOT EXISTS (
      SELECT 1 FROM timers WHERE timers.due_at = items.due_at AND timers.item_id = items.id))
    OR (waits_on = '${place.worker}' AND NOT EXISTS (
      SELECT 1 FROM workers JOIN claims ON claims.worker = workers.id
      WHERE workers.id = items.worker AND {claimHasItem}))
    OR (waits_on = '${place.person}' AND NOT EXISTS (
      SELECT 1 FROM jobs WHERE jobs.id = items.job_id AND jobs.state = '${jobState.paused}'))
    OR (waits_on = '${place.task}' AND NOT EXISTS (
      SELECT 1 FROM batch_lines WHERE batch_lines.item_id = items.id
        AND batch_lines.status = 'open'))
    OR (waits_on = '${place.gate}' AND NOT EXISTS (
      SELECT 1 FROM lines WHERE lines.gate = items.gate AND lines.rank = items.rank
        AND lines.item_id = items.id))
    OR (waits_on = '${place.gate}' AND NOT EXISTS (
      SELECT 1 FROM items AS held WHERE held.gate = items.gate AND held.gate_held = 1))`;
const isWithoutCause = `(${isUnmoved}) AND NOT EXISTS (
  SELECT 1 FROM jobs AS swept WHERE swept.id = items.job_id AND swept.sweep IS NOT NULL)`;
const withoutCause = {
  ever: sql<{ count: number }>`SELECT COUNT(*) AS count FROM items WHERE ${isWithoutCause}`,
  // The order is given: the jobs first, and of each its items.
  open: sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM jobs CROSS JOIN items
    WHERE jobs.ended_at IS NULL AND items.job_id = jobs.id AND (${isWithoutCause})`,
};

/**
 * How many open items nothing will move. It is 0, or a promise is broken. `ever` checks all items,
 * `open` only those of open jobs, which is enough for frequent checks.
 */
export async function countWithoutCause(
  reader: Reader,
  among: keyof typeof withoutCause = 'ever',
): Promise<number> {
  return (await reader.run(withoutCause[among]))[0]?.count ?? 0;
}
