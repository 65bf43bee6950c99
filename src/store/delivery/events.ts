/**
 * The append-only history. Sequence numbers have no gaps and rise in commit order: they come from
 * one row that is locked until the commit, so a reader that has read up to N has missed nothing
 * below it. The log is therefore also an outbox: a consumer keeps its position in `cursors`.
 */
import type { Event, EventKind, NewEvent } from '../../observe/event.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { readCursor, setCursor } from './cursors.ts';

const reserve = sql<{ value: number }>`
  UPDATE sequence SET value = value + :count WHERE name = 'events' RETURNING value`;

const columns = {
  place: 'int',
  kind: 'text',
  job_id: 'int',
  item_id: 'int',
  step: 'text',
  attempt: 'int',
  worker: 'text',
  detail: 'json',
} as const;
const into = 'INSERT INTO events (seq, at, kind, job_id, item_id, step, attempt, worker, detail)';
const values = ':at, :kind, :job_id, :item_id, :step, :attempt, :worker, :detail';

const insert = sqlRows(columns)`${into} SELECT :first + :place, ${values} {rows}`;

/** In one round trip, to keep the lock on the sequence row as short as possible. */
const reserveAndInsert = sqlRows(columns)`
  WITH reserved AS (
    UPDATE sequence SET value = value + :count WHERE name = 'events' RETURNING value)
  ${into} SELECT reserved.value - :count + :place, ${values} {rows} CROSS JOIN reserved`;

/** Appends the events as the last act of a transaction. */
export async function appendEvents(
  transaction: Transaction,
  events: readonly NewEvent[],
  now: number,
): Promise<void> {
  if (events.length === 0) return;
  const count = events.length;
  const rows = events.map(toRow);
  if (transaction.dialect.name === 'postgres') {
    await transaction.eachLater(reserveAndInsert, rows, { at: now, count });
    return;
  }
  const [reserved] = await transaction.run(reserve, { count });
  await transaction.each(insert, rows, { at: now, first: (reserved?.value ?? 0) - count });
}

function toRow(event: NewEvent, index: number) {
  return {
    place: index + 1,
    kind: event.kind,
    job_id: event.jobId,
    item_id: event.itemId ?? null,
    step: event.step ?? null,
    attempt: event.attempt ?? null,
    worker: event.worker ?? null,
    detail: event.detail === undefined ? null : JSON.stringify(event.detail),
  };
}

interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: EventKind;
  readonly job_id: number | null;
  readonly item_id: number | null;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly worker: string | null;
  readonly detail: string | null;
}

const listAfter = sql<EventRow>`
  SELECT * FROM events WHERE seq > :after ORDER BY seq LIMIT :limit`;
const listOfJobAfter = sql<EventRow>`
  SELECT * FROM events WHERE job_id = :job_id AND seq > :after ORDER BY seq LIMIT :limit`;
const listOfJobBefore = sql<EventRow>`
  SELECT * FROM events WHERE job_id = :job_id AND seq < :before ORDER BY seq DESC LIMIT :limit`;
const listOfItemAfter = sql<EventRow>`
  SELECT * FROM events WHERE item_id = :item_id AND seq > :after ORDER BY seq LIMIT :limit`;
const newestOfItem = sql<{ value: number | null }>`
  SELECT MAX(seq) AS value FROM events WHERE item_id = :item_id`;
const newestOfJob = sql<{ value: number | null }>`
  SELECT MAX(seq) AS value FROM events WHERE job_id = :job_id`;
/** Uses the index of each job: most of the log belongs to other callers. */
const newestOfCaller = sql<{ value: number | null }>`
  SELECT MAX((SELECT MAX(seq) FROM events WHERE events.job_id = jobs.id)) AS value
  FROM jobs WHERE jobs.caller = :caller`;
const newest = sql<{ value: number }>`SELECT value FROM sequence WHERE name = 'events'`;

export async function listEvents(
  reader: Reader,
  { jobId, after, limit }: { jobId?: number | undefined; after: number; limit: number },
): Promise<Event[]> {
  const rows =
    jobId === undefined
      ? await reader.run(listAfter, { after, limit })
      : await reader.run(listOfJobAfter, { job_id: jobId, after, limit });
  return rows.map(toEvent);
}

/** The newest events of a job first, from a number downwards. */
export async function listEventsBefore(
  reader: Reader,
  { jobId, before, limit }: { jobId: number; before: number; limit: number },
): Promise<Event[]> {
  return (await reader.run(listOfJobBefore, { job_id: jobId, before, limit })).map(toEvent);
}

export async function listEventsOfItem(
  reader: Reader,
  { itemId, after, limit }: { itemId: number; after: number; limit: number },
): Promise<Event[]> {
  return (await reader.run(listOfItemAfter, { item_id: itemId, after, limit })).map(toEvent);
}

export async function newestSequence(reader: Reader): Promise<number> {
  return (await reader.run(newest))[0]?.value ?? 0;
}

export type EventsOf =
  | { readonly jobId: number }
  | { readonly itemId: number }
  | { readonly caller: string };

/** The newest event of a job, an item or a caller: logs of other callers are private. */
export async function newestOwn(reader: Reader, of: EventsOf): Promise<number> {
  return (await newestRows(reader, of))[0]?.value ?? 0;
}

function newestRows(reader: Reader, of: EventsOf): Promise<{ value: number | null }[]> {
  if ('jobId' in of) return reader.run(newestOfJob, { job_id: of.jobId });
  if ('itemId' in of) return reader.run(newestOfItem, { item_id: of.itemId });
  return reader.run(newestOfCaller, { caller: of.caller });
}

function toEvent(row: EventRow): Event {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    jobId: row.job_id,
    itemId: row.item_id,
    step: row.step,
    attempt: row.attempt,
    worker: row.worker,
    detail: row.detail === null ? undefined : JSON.parse(row.detail),
  };
}

const oldest = sql<{ seq: number; at: number }>`
  SELECT seq, at FROM events WHERE seq > :after ORDER BY seq LIMIT :limit`;
// Never removes the newest event, regardless of age: the end of the log must stay readable.
const prune = sql<{ seq: number }>`
  DELETE FROM events WHERE seq {amongIds}
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = events.job_id AND jobs.ended_at IS NULL)
    AND seq < (SELECT value FROM sequence WHERE name = 'events')
  RETURNING seq`;
const place = 'sweep:events';

/**
 * Removes events of ended jobs from before a time. Returns how many. Numbers rise with time, so it
 * stops at the first event that is young enough; events of open jobs are skipped and checked again
 * when it starts over.
 */
export async function pruneEvents(
  transaction: Transaction,
  { before, limit }: { before: number; limit: number },
): Promise<number> {
  const after = (await readCursor(transaction, place)) ?? 0;
  const rows = await transaction.run(oldest, { after, limit });
  const young = rows.findIndex(({ at }) => at >= before);
  const old = (young < 0 ? rows : rows.slice(0, young)).map(({ seq }) => seq);
  const next = old.length < limit ? 0 : (old.at(-1) ?? 0);
  if (next !== after) await setCursor(transaction, { name: place, seq: next });
  if (old.length === 0) return 0;
  return (await transaction.run(prune, { ids: JSON.stringify(old) })).length;
}
