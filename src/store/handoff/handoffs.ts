/**
 * A handoff is a step's request to a service in another process. The request is on disk before it
 * is sent, and its response is on disk before the step continues: the current holder of the item
 * finds both. The epoch rises when a worker begins and when it is given up: messages of an earlier
 * worker are refused.
 */
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, count, first, write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface NewHandoff {
  /** Unguessable. */
  readonly key: string;
  readonly itemId: number;
  readonly jobId: number;
  readonly step: string;
  readonly stage: string;
  readonly kind: string;
  /** Distinguishes two requests of one step. */
  readonly hash: string;
  readonly request: string;
  readonly requestBytes: Uint8Array | null;
}

/** The state of a request. */
export interface HandoffState {
  readonly key: string;
  readonly epoch: number;
  /** The worker on it, as JSON; null if there is none. */
  readonly worker: string | null;
  readonly beat_at: number | null;
  readonly answered_at: number | null;
  /** Workers that died on it. */
  readonly deaths: number;
}

export interface HandoffRow extends HandoffState {
  readonly item_id: number;
  readonly job_id: number;
  readonly step: string;
  readonly stage: string;
  readonly kind: string;
  readonly job_key: string;
  /** One per line, newest last: workers that had it, or were refused it. */
  readonly past_workers: string;
  /** Failed tries of the item at its current steps. */
  readonly attempt: number;
  /** Null: the item or its job has ended, and the response is no longer needed. */
  readonly waits_on: string | null;
}

const stateColumns = 'key, epoch, worker, beat_at, answered_at, deaths';
const row = `${stateColumns}, item_id, job_id, step, stage, kind, past_workers,
  (SELECT jobs.key FROM jobs WHERE jobs.id = handoffs.job_id) AS job_key,
  (SELECT items.attempt FROM items WHERE items.id = handoffs.item_id) AS attempt,
  (SELECT items.waits_on FROM items JOIN jobs ON jobs.id = items.job_id
    WHERE items.id = handoffs.item_id AND jobs.state <> '${jobState.canceled}') AS waits_on`;

interface OpenedRow extends HandoffState {
  readonly item_id: number;
  readonly step: string;
  readonly request_hash: string;
}

/** The update changes nothing: it locks the row and returns it. */
const openRows = sqlRows({
  key: 'text',
  item_id: 'int',
  job_id: 'int',
  step: 'text',
  stage: 'text',
  kind: 'text',
  hash: 'text',
  request: 'text',
  request_bytes: 'bytes',
})<OpenedRow>`
  INSERT INTO handoffs (key, item_id, job_id, step, stage, kind, request_hash, request,
    request_bytes, created_at)
  SELECT :key, :item_id, :job_id, :step, :stage, :kind, :hash, :request, :request_bytes,
    CAST(:now AS {int}) {rows} WHERE true
  ON CONFLICT (item_id, step, request_hash) DO UPDATE SET kind = excluded.kind
  RETURNING handoffs.key, handoffs.epoch, handoffs.worker, handoffs.beat_at, handoffs.answered_at,
    handoffs.deaths, handoffs.item_id, handoffs.step, handoffs.request_hash`;

/** What makes two requests the same one. */
export function identityOf({ itemId, step, hash }: NewHandoff): string {
  return `${itemId} ${step} ${hash}`;
}

/** Opens the requests, or returns those opened before. No two of them are the same. */
export async function openHandoffs(
  transaction: Transaction,
  handoffs: readonly NewHandoff[],
  now: number,
): Promise<HandoffState[]> {
  const rows = handoffs.map(({ itemId, jobId, requestBytes, ...rest }) => {
    return { ...rest, item_id: itemId, job_id: jobId, request_bytes: requestBytes };
  });
  const opened = await transaction.each(openRows, rows, { now });
  const byIdentity = new Map(
    opened.map((row) => {
      const { item_id: itemId, step, request_hash: hash } = row;
      return [identityOf({ itemId, step, hash } as NewHandoff), row];
    }),
  );
  return handoffs.map((handoff) => byIdentity.get(identityOf(handoff)) as HandoffState);
}

const handoffStates = sql<HandoffState>`
  SELECT ${stateColumns} FROM handoffs WHERE key {amongKeys}`;

export async function listHandoffStates(
  reader: Reader,
  keys: readonly string[],
): Promise<HandoffState[]> {
  return keys.length === 0 ? [] : reader.run(handoffStates, { keys: JSON.stringify(keys) });
}

/** Requests of a stage that wait for a worker, oldest first. */
export const listUnbegun = all<
  { stage: string; after: number; limit: number },
  { id: number; key: string; epoch: number; kind: string; job_key: string }
>`
  SELECT id, key, epoch, kind,
    (SELECT jobs.key FROM jobs WHERE jobs.id = handoffs.job_id) AS job_key
  FROM handoffs WHERE stage = :stage AND answered_at IS NULL AND worker IS NULL AND id > :after
  ORDER BY id LIMIT :limit`;

const lockRows = sql<HandoffRow>`
  SELECT ${row} FROM handoffs WHERE key {amongKeys} ORDER BY key {forUpdate}`;

/** In one order, so that two transactions do not wait for each other. */
export async function lockHandoffs(
  transaction: Transaction,
  keys: readonly string[],
): Promise<ReadonlyMap<string, HandoffRow>> {
  const rows = await transaction.run(lockRows, { keys: JSON.stringify(keys) });
  return new Map(rows.map((found) => [found.key, found]));
}

/** The first unanswered requests of a job in a stage: enough to distinguish one from several. */
export const lockOpenHandoffs = all<{ jobId: number; stage: string }, HandoffRow, Transaction>`
  SELECT ${row} FROM handoffs WHERE job_id = :jobId AND stage = :stage AND answered_at IS NULL
  ORDER BY created_at, id LIMIT 8 {forUpdate}`;

export interface BegunRow {
  readonly key: string;
  readonly epoch: number;
  readonly request: string;
  readonly request_bytes: Uint8Array | null;
}

const beginRows = sqlRows({ key: 'text', worker: 'text' })<BegunRow>`
  UPDATE handoffs SET worker = :worker, beat_at = :now, epoch = handoffs.epoch + 1 {rows}
  WHERE handoffs.key = :key
  RETURNING handoffs.key, handoffs.epoch, handoffs.request, handoffs.request_bytes`;
const begunRow = sql<BegunRow>`
  SELECT key, epoch, request, request_bytes FROM handoffs WHERE key = :key`;
const setPast = sql`UPDATE handoffs SET past_workers = :past WHERE key = :key`;

/** Assigns requests to workers, each under a new epoch. The rows are locked, and free. */
export async function beginHandoffs(
  transaction: Transaction,
  begins: readonly { readonly key: string; readonly worker: string }[],
  now: number,
): Promise<ReadonlyMap<string, BegunRow>> {
  const rows = await transaction.each(beginRows, begins, { now });
  return new Map(rows.map((found) => [found.key, found]));
}

/**
 * Whether the worker may begin: `free`; or the request that it has, for its message may arrive
 * twice, or be replayed by somebody else. Undefined: another worker has it, or this one had it or
 * was refused it before. Each run of a worker has its own name, so no honest worker asks a second
 * time. The row is locked.
 */
export async function tryBegin(
  transaction: Transaction,
  { key, worker: current, past_workers: past }: HandoffRow,
  worker: string,
): Promise<'free' | BegunRow | undefined> {
  if (current === worker) return (await transaction.run(begunRow, { key }))[0];
  const names = past.split(newline);
  if (names.includes(worker)) return undefined;
  if (current === null) return 'free';
  const kept = [...names.filter((name) => name !== '').slice(1 - pastWorkersMax), worker, ''];
  await transaction.run(setPast, { key, past: kept.join(newline) });
  return undefined;
}

/** The number of workers that had the request or were refused it, as far as remembered. */
export function releasesOf({ past_workers: past }: HandoffRow): number {
  return past.split(newline).length - 1;
}

const newline = '\n';
/** A recorded message can be replayed for a few minutes, in which few workers get a request. */
const pastWorkersMax = 50;

const beatRows = sqlRows({ key: 'text' })`
  UPDATE handoffs SET beat_at = :now {rows} WHERE handoffs.key = :key`;

/** The rows are locked, and their workers hold them. */
export async function beatHandoffs(
  transaction: Transaction,
  keys: readonly string[],
  now: number,
): Promise<void> {
  await transaction.eachLater(
    beatRows,
    keys.map((key) => ({ key })),
    { now },
  );
}

const releaseRow = sql<{ epoch: number; deaths: number }>`
  UPDATE handoffs SET worker = NULL, beat_at = NULL, epoch = epoch + 1, deaths = deaths + :died,
    past_workers = past_workers || worker || :newline
  WHERE key = :key AND epoch = :epoch AND worker IS NOT NULL AND answered_at IS NULL
  RETURNING epoch, deaths`;

/**
 * Takes the request from a worker that leaves or has died. Undefined: another process did it first.
 */
export async function releaseHandoff(
  transaction: Transaction,
  { key, epoch, hasDied }: { key: string; epoch: number; hasDied: boolean },
): Promise<{ readonly epoch: number; readonly deaths: number } | undefined> {
  return (await transaction.run(releaseRow, { key, epoch, died: hasDied ? 1 : 0, newline }))[0];
}

const requestsOf = sql<{ key: string; request: string }>`
  SELECT key, request FROM handoffs WHERE key {amongKeys}`;

/** The request bodies, as JSON. They never change. */
export async function readRequests(
  reader: Reader,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows =
    keys.length === 0 ? [] : await reader.run(requestsOf, { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, request }) => [key, request]));
}

const answerRows = sqlRows({ key: 'text', answer: 'text', bytes: 'bytes' })`
  UPDATE handoffs SET answer = :answer, answer_bytes = :bytes, answered_at = :now,
    request_bytes = NULL {rows}
  WHERE handoffs.key = :key`;

export interface StoredAnswer {
  readonly key: string;
  readonly answer: string;
  readonly bytes: Uint8Array | null;
}

export async function answerHandoffs(
  transaction: Transaction,
  answers: readonly StoredAnswer[],
  now: number,
): Promise<void> {
  const rows = answers.map(({ key, answer, bytes }) => ({ key, answer, bytes }));
  await transaction.eachLater(answerRows, rows, { now });
}

export const readAnswer = first<string, { answer: string; answer_bytes: Uint8Array | null }>`
  SELECT answer, answer_bytes FROM handoffs WHERE key = :key AND answered_at IS NOT NULL`;

const removeUnbegun = sql<{ key: string; epoch: number }>`
  DELETE FROM handoffs WHERE key = :key AND worker IS NULL AND answered_at IS NULL AND deaths = 0
  RETURNING key, epoch`;
const lockUnbegun = sql<{ key: string; epoch: number }>`
  SELECT key, epoch FROM handoffs WHERE key = :key AND worker IS NULL AND answered_at IS NULL
  {forUpdate}`;

export const removeHandoff = write<string>`DELETE FROM handoffs WHERE key = :key`;

/** The requests of a step are removed in the commit that used the responses. */
export async function removeHandoffsOfStep(
  transaction: Transaction,
  { itemId, step }: { itemId: number; step: string },
): Promise<void> {
  await transaction.eachLater(removeOfStep, [{ item_id: itemId, step }]);
}

const removeOfStep = sqlRows({ item_id: 'int', step: 'text' })`
  DELETE FROM handoffs {rows} WHERE handoffs.item_id = :item_id AND handoffs.step = :step`;

/**
 * Undefined: a worker has begun or even answered, and the request stays. A request that workers
 * died on stays, too: it will be sent again, and the deaths must be known by then.
 */
export async function withdrawHandoff(
  transaction: Transaction,
  key: string,
): Promise<{ readonly epoch: number } | undefined> {
  const [removed] = await transaction.run(removeUnbegun, { key });
  return removed ?? (await transaction.run(lockUnbegun, { key }))[0];
}

/**
 * Removes the request if its response is no longer needed: its item or job has ended, or waits for
 * a person and no worker has begun. A begun request is still useful when the job is resumed. The
 * job is checked as well, because its items follow it a little later
 * (`engine/command/job-sweeps.ts`).
 */
export const removeUnwanted = first<string, { readonly epoch: number }, Transaction>`
  DELETE FROM handoffs WHERE key = :key AND NOT EXISTS (
    SELECT 1 FROM items JOIN jobs ON jobs.id = items.job_id
    WHERE items.id = handoffs.item_id AND items.waits_on IS NOT NULL
      AND jobs.state <> '${jobState.canceled}'
      AND (handoffs.worker IS NOT NULL
        OR (items.waits_on <> '${place.person}' AND jobs.state <> '${jobState.paused}')))
  RETURNING key, epoch, kind`;

/** Removes requests of ended items. Returns how many. */
export const pruneHandoffs = count<{ before: number; limit: number }>`
  DELETE FROM handoffs WHERE key IN (
    SELECT key FROM handoffs WHERE created_at < :before AND NOT EXISTS (
      SELECT 1 FROM items WHERE items.id = handoffs.item_id AND items.waits_on IS NOT NULL)
    ORDER BY created_at LIMIT :limit)
  RETURNING key`;
