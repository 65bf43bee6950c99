/**
 * Commits callbacks that arrived together: their requests are locked with one statement, each
 * callback is judged by its request, and what they write goes out with one statement for each kind.
 * No two callbacks of a commit are for the same request; one that names no request is alone.
 */
import { retryPolicyFor } from '../../kernel/backoff.ts';
import { Failure, type FailureCode, pauseReasons } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { react } from '../../kernel/reaction.ts';
import { isSuspect, uptimeMsFor } from '../../kernel/suspicion.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Settled } from '../../store/driver/commit-group.ts';
import type { Transaction } from '../../store/driver/database.ts';
import {
  answerHandoffs,
  type BegunRow,
  beatHandoffs,
  beginHandoffs,
  type HandoffRow,
  lockHandoffs,
  lockOpenHandoffs,
  readRequests,
  releaseHandoff,
  releasesOf,
  removeHandoff,
  type StoredAnswer,
  tryBegin,
} from '../../store/handoff/handoffs.ts';
import { getJob, getJobById } from '../../store/job/jobs.ts';
import { type HandoffRequest, type Json, type Reply, stageAfter, verdictOf } from '../request.ts';
import { kindsOf, type ReadResult } from '../result.ts';
import type { StoredResponse, WorkerName } from './broker.ts';
import type { Beat, Begun, Completion } from './callbacks.ts';

export type Call =
  | {
      readonly do: 'begin';
      readonly jobKey: string;
      readonly handoff: string;
      readonly worker: WorkerName;
      readonly isAlone: boolean;
    }
  | { readonly do: 'beat'; readonly jobKey: string; readonly handoff: string; readonly beat: Beat }
  | {
      readonly do: 'complete';
      readonly jobKey: string;
      readonly handoff: string | undefined;
      readonly completion: Completion;
    };

/** `none`: a late or duplicate callback, which has changed nothing. */
export type End =
  | { readonly did: 'begin'; readonly begun: Begun }
  | { readonly did: 'beat'; readonly isHeard: boolean }
  | {
      readonly did: 'complete';
      readonly key: string;
      readonly status: string;
      readonly reply: Reply;
    }
  | { readonly did: 'none' };

export interface CommitParts {
  readonly world: World;
  readonly read: ReadResult;
  /** A request that this process has open, which saves reading it from the store. */
  readonly requestOf: (key: string) => Pick<HandoffRequest, 'request'> | undefined;
  readonly now: () => number;
}

/** What the callbacks of one commit write. */
class Writes {
  readonly begins: { key: string; worker: string }[] = [];
  readonly beats: string[] = [];
  readonly answers: StoredAnswer[] = [];

  async send(transaction: Transaction, now: number): Promise<ReadonlyMap<string, BegunRow>> {
    if (this.beats.length > 0) await beatHandoffs(transaction, this.beats, now);
    if (this.answers.length > 0) await answerHandoffs(transaction, this.answers, now);
    return this.begins.length === 0 ? new Map() : beginHandoffs(transaction, this.begins, now);
  }
}

/** The end of a callback, once the rows that its commit has begun are known. */
type Finish = (begun: ReadonlyMap<string, BegunRow>) => End;

interface Judging {
  readonly transaction: Transaction;
  readonly rows: ReadonlyMap<string, HandoffRow>;
  /** Bodies of requests that are answered and not open in this process. */
  readonly requests: ReadonlyMap<string, string>;
  readonly writes: Writes;
  readonly parts: CommitParts;
}

export async function applyCalls(
  transaction: Transaction,
  calls: readonly Call[],
  parts: CommitParts,
): Promise<Settled<End>[]> {
  const keys = calls.flatMap(({ handoff }) => handoff ?? []);
  const unread = calls.flatMap((call) => {
    const { handoff = '' } = call;
    const isRead = call.do === 'complete' && !call.completion.failure;
    return isRead && handoff !== '' && !parts.requestOf(handoff) ? handoff : [];
  });
  const [rows, requests] = await Promise.all([
    lockHandoffs(transaction, keys),
    readRequests(transaction, unread),
  ]);
  const writes = new Writes();
  const judging: Judging = { transaction, rows, requests, writes, parts };
  const judged: Settled<Finish>[] = [];
  for (const call of calls) judged.push(await settle(() => judge(call, judging)));
  const begun = await writes.send(transaction, parts.now());
  if (writes.answers.length > 0) failpoint(parts.world, 'handoff.before-answer');
  return judged.map((one) => ('refusal' in one ? one : { value: one.value(begun) }));
}

/** What is wrong with one callback, and not with the store. */
const refusals: ReadonlySet<FailureCode> = new Set<FailureCode>(['job_unknown', 'bad_request']);

async function settle<T>(run: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await run() };
  } catch (error) {
    if (error instanceof Failure && refusals.has(error.code)) return { refusal: error };
    throw error;
  }
}

function judge(call: Call, judging: Judging): Promise<Finish> {
  switch (call.do) {
    case 'begin':
      return judgeBegin(call, judging);
    case 'beat':
      return judgeBeat(call, judging);
    case 'complete':
      return judgeCompletion(call, judging);
  }
}

async function judgeBegin(
  { jobKey, handoff, worker, isAlone }: Call & { do: 'begin' },
  judging: Judging,
): Promise<Finish> {
  const { transaction, writes } = judging;
  const row = await handoffOf(judging, jobKey, handoff);
  if (!row || row.answered_at !== null || (await isOver(transaction, row))) return toBegin(gone);
  // Of two deliveries, the second finds the first at work; if that one dies, the orchestrator
  // notices and asks again.
  if (isSuspect(row.deaths) && !isAlone) {
    const uptimeMs = uptimeMsFor(row.deaths - limits.suspect.crashesMin);
    return toBegin({ status: 'alone', uptimeMs });
  }
  const name = JSON.stringify(worker);
  const begun = await tryBegin(transaction, row, name);
  if (!begun) return toBegin(gone);
  if (begun !== 'free') return toBegin(assigned(row, begun));
  writes.begins.push({ key: row.key, worker: name });
  return (rows) => {
    const found = rows.get(row.key);
    return { did: 'begin', begun: found ? assigned(row, found) : gone };
  };
}

function assigned(row: HandoffRow, { epoch, request, request_bytes }: BegunRow): Begun {
  const { kind } = row;
  const body = { request: JSON.parse(request) as Json, bytes: request_bytes ?? undefined };
  return { status: 'begun', epoch, kind, releases: releasesOf(row), ...body };
}

async function judgeBeat(
  { jobKey, beat: { handoff: key, epoch, isLeaving } }: Call & { do: 'beat' },
  judging: Judging,
): Promise<Finish> {
  const { transaction, writes } = judging;
  const row = await handoffOf(judging, jobKey, key);
  if (!row || (await isOver(transaction, row))) return toBeat(false);
  if (isLeaving) {
    const released = await releaseHandoff(transaction, { key, epoch, hasDied: false });
    return toBeat(released !== undefined);
  }
  const isOpen = row.answered_at === null;
  const isHeld = isOpen && row.epoch === epoch && row.worker !== null;
  if (isHeld) writes.beats.push(key);
  return toBeat(isHeld || (isOpen && isLast(row, epoch)));
}

async function judgeCompletion(
  { jobKey, completion }: Call & { do: 'complete' },
  judging: Judging,
): Promise<Finish> {
  const { transaction, writes, parts } = judging;
  const { failure, stage, value = {} } = completion;
  const row = await openRequest(judging, jobKey, completion);
  if (!row) return () => ({ did: 'none' });
  const payload = { value, bytes: completion.bytes };
  const { kind, key } = row;
  const asked = failure ? {} : await requestIn(judging, key);
  const result = failure ? payload : parts.read({ kind, request: asked }, payload);
  const verdict = failure && verdictOf(failure);
  const status = verdict ? await statusAfter(transaction, row, verdict) : stageAfter(stage);
  const answer: StoredResponse = { value: result.value, failure };
  writes.answers.push({ key, answer: JSON.stringify(answer), bytes: result.bytes ?? null });
  return () => ({ did: 'complete', key, status, reply: { ...result, failure: verdict } });
}

async function requestIn({ transaction, requests, parts }: Judging, key: string): Promise<Json> {
  const known = parts.requestOf(key);
  if (known) return known.request;
  const text = requests.get(key) ?? (await readRequests(transaction, [key])).get(key);
  return JSON.parse(text ?? '{}') as Json;
}

const gone: Begun = { status: 'gone' };

function toBegin(begun: Begun): Finish {
  return () => ({ did: 'begin', begun });
}

function toBeat(isHeard: boolean): Finish {
  return () => ({ did: 'beat', isHeard });
}

/** The next status of the document and its job, from the function that will decide it. */
async function statusAfter(
  transaction: Transaction,
  { attempt, job_id, stage }: HandoffRow,
  failure: Failure,
): Promise<string> {
  if (pauseReasons[failure.code] !== undefined) return 'job_paused';
  const reaction = react({
    outcome: { kind: failure.kind, failure },
    failedTries: Math.max(attempt, failure.tries - 1),
    policy: retryPolicyFor(stage as Stage, failure.code),
    now: 0,
    random: () => 0,
  });
  if (reaction.do !== 'fail') return 'retry_scheduled';
  const job = await getJobById(transaction, job_id);
  const others = job ? job.items_total - job.items_failed - job.items_canceled - 1 : 0;
  return others > 0 ? 'document_failed' : 'job_failed';
}

async function jobIdOf(transaction: Transaction, key: string): Promise<number> {
  const job = await getJob(transaction, key);
  if (job) return job.id;
  throw new Failure('job_unknown', `there is no job ${key}`);
}

/** A request of this job. An unknown job is distinguished from one without requests. */
async function handoffOf(
  { transaction, rows }: Judging,
  jobKey: string,
  handoff: string,
): Promise<HandoffRow | undefined> {
  const row = rows.get(handoff);
  if (row?.job_key === jobKey) return row;
  await jobIdOf(transaction, jobKey);
  return undefined;
}

/** The open request that is being answered, if any. */
async function openRequest(
  judging: Judging,
  jobKey: string,
  completion: Completion,
): Promise<HandoffRow | undefined> {
  const { transaction } = judging;
  const { stage, handoff, epoch, itemId } = completion;
  const row =
    handoff === undefined
      ? await onlyRequest(transaction, jobKey, completion)
      : await handoffOf(judging, jobKey, handoff);
  if (!row || row.stage !== stage) return undefined;
  if (row.answered_at !== null || (epoch !== undefined && !isLast(row, epoch))) return undefined;
  if (await isOver(transaction, row)) return undefined;
  return itemId === undefined || itemId === row.item_id ? row : undefined;
}

/**
 * Whether no later worker has begun. Until then a worker that was given up may still answer: its
 * result, perhaps paid for, is as good as the next one's.
 */
function isLast(row: HandoffRow, epoch: number): boolean {
  return epoch === row.epoch || (row.worker === null && epoch === row.epoch - 1);
}

/** The item has ended without the response: removes the request. */
async function isOver(transaction: Transaction, { key, waits_on }: HandoffRow): Promise<boolean> {
  if (waits_on !== null) return false;
  await removeHandoff(transaction, key);
  return true;
}

async function onlyRequest(
  transaction: Transaction,
  jobKey: string,
  { stage, itemId, failure, value = {} }: Completion,
): Promise<HandoffRow | undefined> {
  const jobId = await jobIdOf(transaction, jobKey);
  const isMeant = failure ? undefined : kindsOf(value);
  const open = (await lockOpenHandoffs(transaction, { jobId, stage })).filter(
    ({ kind, item_id }) => isMeant?.(kind) !== false && (itemId ?? item_id) === item_id,
  );
  const [only, other] = open;
  // If all belong to one document, it does not matter which of its requests failed.
  const isOfOne = open.every(({ item_id }) => item_id === only?.item_id);
  if (!other || (failure && isOfOne)) return only;
  const several = isOfOne ? 'several requests are open' : 'several documents of this job are open';
  const message = `${several} in the stage ${stage}: name the handoff`;
  throw new Failure('bad_request', message);
}
