/**
 * Callbacks of workers to the orchestrator: begin, heartbeat and result. Each is one transaction
 * with the request locked. A late or duplicate callback, or one of a replaced worker, changes
 * nothing and gets a 200 that says so: an error would only cause a retry.
 */
import { retryPolicyFor } from '../../kernel/backoff.ts';
import { Failure, pauseReasons } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { react } from '../../kernel/reaction.ts';
import { isSuspect, uptimeMsFor } from '../../kernel/suspicion.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import {
  answerHandoff,
  beatHandoff,
  beginHandoff,
  type HandoffRow,
  lockHandoff,
  lockOpenHandoffs,
  readRequest,
  releaseHandoff,
  releasesOf,
  removeHandoff,
} from '../../store/handoff/handoffs.ts';
import { getJob, getJobById } from '../../store/job/jobs.ts';
import { type Json, type Reply, stageAfter, verdictOf, type WireFailure } from '../request.ts';
import { type AnsweredRequest, kindsOf, type ReadResult, readResult } from '../result.ts';
import type { HandoffBroker, StoredResponse, WorkerName } from './broker.ts';

export type Begun =
  | {
      readonly status: 'begun';
      readonly epoch: number;
      readonly kind: string;
      /** How many workers had it and returned it or died. */
      readonly releases?: number | undefined;
      readonly request: Json;
      readonly bytes?: Uint8Array | undefined;
    }
  /** Workers died on it: it must run alone, in a process that has been up for this long. */
  | { readonly status: 'alone'; readonly uptimeMs: number }
  | { readonly status: 'gone' };

export interface Beat {
  readonly handoff: string;
  readonly epoch: number;
  readonly progress?: { readonly done: number; readonly total: number } | undefined;
  /** The worker stops and returns the request. */
  readonly isLeaving?: boolean | undefined;
}

export interface Completion {
  readonly stage: Stage;
  /** Absent: the only unanswered request of the job in this stage. */
  readonly handoff?: string | undefined;
  readonly epoch?: number | undefined;
  readonly itemId?: number | undefined;
  readonly value?: Json | undefined;
  readonly bytes?: Uint8Array | undefined;
  readonly failure?: WireFailure | undefined;
}

export interface Completed {
  /**
   * The next status; for a failure `job_failed`, `document_failed` if the job has other documents,
   * `job_paused` or `retry_scheduled`; `already_advanced` for a late or duplicate callback.
   */
  readonly status: string;
}

/** The same client interface for workers in this process and over HTTP. */
export interface OrchestratorClient {
  begin(jobKey: string, handoff: string, worker: WorkerName, isAlone?: boolean): Promise<Begun>;
  /** False: the response is no longer needed. */
  beat(jobKey: string, beat: Beat): Promise<boolean>;
  complete(jobKey: string, completion: Completion): Promise<Completed>;
}

export interface CallbackOptions {
  readonly database: Database;
  readonly world: World;
  /** Absent if nothing is handed to other processes: then no request is ever open. */
  readonly broker?: HandoffBroker | undefined;
  /** Reads and validates results. */
  readonly read?: ReadResult | undefined;
}

export class Callbacks implements OrchestratorClient {
  readonly #options: CallbackOptions;

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  async begin(
    jobKey: string,
    handoff: string,
    worker: WorkerName,
    isAlone = false,
  ): Promise<Begun> {
    const { database } = this.#options;
    return database.write(async (transaction): Promise<Begun> => {
      const row = await handoffOf(transaction, jobKey, handoff);
      if (!row || row.answered_at !== null || (await isOver(transaction, row))) return gone;
      // Of two deliveries, the second finds the first at work; if that one dies, the orchestrator
      // notices and asks again.
      if (isSuspect(row.deaths) && !isAlone) {
        return { status: 'alone', uptimeMs: uptimeMsFor(row.deaths - limits.suspect.crashesMin) };
      }
      const begin = { worker: JSON.stringify(worker), now: database.now() };
      const begun = await beginHandoff(transaction, row, begin);
      if (!begun) return gone;
      const { epoch, request, request_bytes } = begun;
      const bytes = request_bytes ?? undefined;
      const assigned = { kind: row.kind, releases: releasesOf(row) };
      return { status: 'begun', epoch, ...assigned, request: JSON.parse(request), bytes };
    });
  }

  async beat(jobKey: string, { handoff: key, epoch, progress, isLeaving }: Beat): Promise<boolean> {
    const { database, broker } = this.#options;
    const isHeard = await database.write(async (transaction) => {
      const row = await handoffOf(transaction, jobKey, key);
      if (!row || (await isOver(transaction, row))) return false;
      if (isLeaving) {
        const released = await releaseHandoff(transaction, { key, epoch, hasDied: false });
        return released !== undefined;
      }
      if (await beatHandoff(transaction, { key, epoch, now: database.now() })) return true;
      return row.answered_at === null && isLast(row, epoch);
    });
    if (isHeard && progress) broker?.progress(key, progress.done, progress.total);
    return isHeard;
  }

  async complete(jobKey: string, completion: Completion): Promise<Completed> {
    const { database, world, broker, read = readResult } = this.#options;
    const { failure, stage } = completion;
    const verdict = failure && verdictOf(failure);
    const taken = await database.write(async (transaction) => {
      const row = await openRequest(transaction, jobKey, completion);
      if (!row) return undefined;
      const { value = {} } = completion;
      const payload = { value, bytes: completion.bytes };
      const result = failure ? payload : read(await askedBy(transaction, row), payload);
      const answer: StoredResponse = { value: result.value, failure };
      await answerHandoff(transaction, {
        key: row.key,
        answer: JSON.stringify(answer),
        bytes: result.bytes ?? null,
        now: database.now(),
      });
      failpoint(world, 'handoff.before-answer');
      const status = verdict ? await statusAfter(transaction, row, verdict) : stageAfter(stage);
      return { key: row.key, status, result };
    });
    if (!taken) return { status: 'already_advanced' };
    failpoint(world, 'handoff.after-answer');
    const reply: Reply = { ...taken.result, failure: verdict };
    broker?.answer(taken.key, reply);
    return { status: taken.status };
  }
}

const gone: Begun = { status: 'gone' };

async function askedBy(
  transaction: Transaction,
  { key, kind }: HandoffRow,
): Promise<AnsweredRequest> {
  return { kind, request: JSON.parse(await readRequest(transaction, key)) as Json };
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
  transaction: Transaction,
  jobKey: string,
  handoff: string,
): Promise<HandoffRow | undefined> {
  const row = await lockHandoff(transaction, handoff);
  if (row?.job_key === jobKey) return row;
  await jobIdOf(transaction, jobKey);
  return undefined;
}

/** The open request that is being answered, if any. */
async function openRequest(
  transaction: Transaction,
  jobKey: string,
  completion: Completion,
): Promise<HandoffRow | undefined> {
  const { stage, handoff, epoch, itemId } = completion;
  const row =
    handoff === undefined
      ? await onlyRequest(transaction, jobKey, completion)
      : await handoffOf(transaction, jobKey, handoff);
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
