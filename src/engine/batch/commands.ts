/** User commands on batch tasks: submit and cancel. The reconciler does the rest. */
import { type BlobStore, getPieces, putParts } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { batchTask, batchTaskState } from '../../kernel/lifecycle/batch-task.ts';
import { allowedActions } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import type { World } from '../../kernel/world.ts';
import type { BatchProvider } from '../../provider/batch/batch-provider.ts';
import {
  type BatchTaskRow,
  countOpenTasks,
  insertBatchTask,
  lockTask,
  moveTask,
} from '../../store/batch/tasks.ts';
import type { Database, Reader } from '../../store/driver/database.ts';
import { type IdempotentRequest, takeKey } from '../../store/job/idempotency.ts';
import { type BatchProviders, servedByModels, type TaskInput } from './plan.ts';
import { type BatchOptions, taskEvent } from './submit.ts';

export interface BatchCommandOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly providers: BatchProviders;
  readonly onEnd?: BatchOptions['onEnd'];
  readonly holdMs?: BatchOptions['holdMs'];
  readonly ring: () => void;
  readonly openTasksMax?: number | undefined;
}

/** The body of `POST /batch/tasks`, and the file of `pawl batch submit`. */
export interface BatchTaskBody {
  readonly task_type: string;
  readonly provider?: string;
  readonly urls?: readonly string[];
  readonly models?: readonly string[];
  readonly language?: string;
  readonly requests?: readonly JsonObject[];
  readonly dataset_ids?: readonly string[];
}

export interface SubmittedTask {
  readonly key: string;
  /** The same request has created it before. */
  readonly isReplayed: boolean;
}

interface PlannedTask {
  readonly provider: string | null;
  readonly servedBy: string;
  readonly input: TaskInput;
}

export class BatchCommands {
  readonly #options: BatchCommandOptions;

  constructor(options: BatchCommandOptions) {
    this.#options = options;
  }

  /** Accepts a task. When this resolves, the intent is on disk; the provider is called later. */
  async submit(
    caller: string,
    body: unknown,
    idempotency?: IdempotentRequest,
  ): Promise<SubmittedTask> {
    const { database, world, ring } = this.#options;
    const asked = readBody(body);
    const { provider, servedBy, input } =
      asked.urls === undefined ? await this.#completion(asked) : this.#transcription(asked);
    const key = world.uuid();
    const taskType = asked.task_type;
    const task = { key, caller, provider, servedBy, taskType, input, now: database.now() };
    const earlier = await database.write(async (transaction) => {
      const request = idempotency && { ...idempotency, caller, jobKey: key, now: task.now };
      const found = request && (await takeKey(transaction, request));
      if (found !== undefined) return found;
      await checkRoom(transaction, caller, this.#options.openTasksMax);
      await insertBatchTask(transaction, { ...task, input: { ...input } });
      return undefined;
    });
    ring();
    return { key: earlier ?? key, isReplayed: earlier !== undefined };
  }

  /**
   * Ends a task here immediately, and at the provider as soon as it can be reached. Results
   * received by then are kept.
   */
  async cancel(caller: string, key: string): Promise<void> {
    const { database, onEnd, ring, holdMs = limits.batch.holdMs } = this.#options;
    await database.write(async (transaction) => {
      const row = await lockTask(transaction, key);
      if (row?.caller !== caller) throw unknown(key);
      checkCancel(row);
      const now = database.now();
      const told = taskEvent('batch_task_canceled', row);
      // Only a process that took the task can have begun a job.
      const isCancelDue = row.epoch > 0;
      // A submitter may be working on it: its jobs are known when its lock expires.
      const heldUntil = Math.min(row.next_at, now + holdMs);
      const nextAt = row.state === batchTaskState.pending ? Math.max(now, heldUntil) : now;
      const change = { event: 'cancel', isCancelDue, nextAt, told, now } as const;
      await moveTask(transaction, row, change);
      if (isCancelDue) return;
      const ended = { row, results: new Map(), blobKey: undefined, reason: 'canceled', now };
      await onEnd?.(transaction, ended);
    });
    ring();
  }

  #transcription(body: BatchTaskBody): PlannedTask {
    const { providers } = this.#options;
    const provider = providers.byName(body.provider ?? '', body.task_type);
    const [valid, invalid]: [string[], string[]] = [[], []];
    for (const url of new Set(body.urls)) {
      const isUsable = isSource(url) && provider.refuses?.(url) === undefined;
      (isUsable ? valid : invalid).push(url);
    }
    const models = [...new Set(body.models ?? defaultModels(provider))];
    checkModels(provider, models);
    checkJobs(provider, valid.length, models.length);
    const language = body.language;
    const { dataset_ids: datasets = [] } = body;
    return {
      provider: provider.name,
      servedBy: provider.name,
      input: { dataset_ids: datasets, models, language, urls: valid, invalid_urls: invalid },
    };
  }

  async #completion(body: BatchTaskBody): Promise<PlannedTask> {
    const { providers, blobs } = this.#options;
    const { models = [], requests = [], dataset_ids: datasets } = body;
    if (models.length === 0) throw bad('name at least one model in models');
    const servedBy = servedByModels(models, body.task_type, providers);
    checkRequests(requests);
    const key = await putParts(blobs, linesOf(requests));
    return {
      provider: null,
      servedBy,
      input: {
        dataset_ids: datasets ?? [key],
        models: [...new Set(models)],
        requests_key: key,
        requests: requests.length,
      },
    };
  }
}

/** The default model for recordings. */
export function defaultModels({ split }: BatchProvider): readonly string[] {
  return split === 'model' || split === 'source_and_model' ? ['long'] : [];
}

function checkModels({ name, modelsMax }: BatchProvider, models: readonly string[]): void {
  if (modelsMax === undefined || models.length <= modelsMax) return;
  const rule = modelsMax === 0 ? 'omit models' : `name at most ${modelsMax} of models`;
  throw bad(`${name} cannot use ${models.join(', ')}: ${rule}`);
}

function checkJobs({ name, split }: BatchProvider, sources: number, models: number): void {
  const { jobsPerTaskMax } = limits.batch;
  if (split !== 'source_and_model' || sources * models <= jobsPerTaskMax) return;
  const jobs = `${sources} urls and ${models} models are ${sources * models} jobs at ${name}`;
  throw bad(`${jobs}, and a task may have ${jobsPerTaskMax}: submit several tasks`);
}

async function checkRoom(
  reader: Reader,
  caller: string,
  max: number = limits.batch.openTasksMax,
): Promise<void> {
  if ((await countOpenTasks(reader, caller)) < max) return;
  const message = `${max} batch tasks of this caller are open: wait for one to end, or cancel one`;
  throw new Failure('queue_full', message, { retryAfterMs: limits.batch.pollIntervalMs });
}

async function* linesOf(requests: readonly JsonObject[]): AsyncGenerator<Uint8Array, void> {
  for (const request of requests) yield Buffer.from(`${JSON.stringify(request)}\n`);
}

export function unknown(key: string): Failure {
  return new Failure('batch_task_unknown', `there is no batch task ${key}`);
}

/** The merged results of a task, in pieces: they may be too large for memory. */
export function outputOf(
  { key, state, output_key: output }: BatchTaskRow,
  blobs: BlobStore,
): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]> {
  if (output !== null) return getPieces(blobs, output);
  throw new Failure('action_not_allowed', `batch task ${key} is ${state}: it has no output`);
}

function checkCancel({ state, key }: BatchTaskRow): void {
  if (allowedActions(batchTask, state).includes('cancel')) return;
  throw new Failure('action_not_allowed', `cannot cancel batch task ${key}: it is ${state}`);
}

function bad(message: string): Failure {
  return new Failure('bad_request', message);
}

function readBody(body: unknown): BatchTaskBody {
  if (!(body instanceof Object) || Array.isArray(body)) throw bad('the task must be an object');
  const asked = body as Record<string, unknown>;
  if (typeof asked.task_type !== 'string') {
    throw bad('task_type must be transcription, completion or embedding');
  }
  for (const name of ['urls', 'models', 'dataset_ids']) checkTexts(asked[name], name);
  for (const name of ['provider', 'language']) {
    const isText = asked[name] === undefined || typeof asked[name] === 'string';
    if (!isText) throw bad(`${name} must be a text`);
  }
  const { urls, requests } = asked as { urls?: unknown[]; requests?: unknown };
  if (urls !== undefined && urls.length === 0) throw bad('urls must have at least one entry');
  if ((urls === undefined) === (requests === undefined)) {
    throw bad('give either urls to transcribe or requests to answer, not both');
  }
  if (requests !== undefined && !Array.isArray(requests)) throw bad('requests must be a list');
  if ((urls?.length ?? 0) > limits.batch.jobsPerTaskMax) {
    throw bad(`urls may have ${limits.batch.jobsPerTaskMax} entries: submit several tasks`);
  }
  return asked as unknown as BatchTaskBody;
}

function checkTexts(value: unknown, name: string): void {
  if (value === undefined) return;
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  if (!isList) throw bad(`${name} must be a list of texts`);
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

function checkRequests(requests: readonly unknown[]): void {
  if (requests.length === 0) throw bad('requests must have at least one entry');
  if (requests.length > limits.batch.requestsPerTaskMax) {
    throw bad(`requests may have ${limits.batch.requestsPerTaskMax} entries: submit several tasks`);
  }
  const seen = new Set<string>();
  for (const [index, request] of requests.entries()) {
    const { custom_id: id, input } = (request ?? {}) as Record<string, unknown>;
    if (typeof id !== 'string' || !idPattern.test(id)) {
      throw bad(`request ${index + 1}: custom_id must be 1 to 64 letters, digits, _ and -`);
    }
    if (seen.has(id)) throw bad(`request ${index + 1}: custom_id ${id} is used twice`);
    if (typeof input !== 'string' || input === '') {
      throw bad(`request ${id}: input must be a text`);
    }
    seen.add(id);
  }
}

/** An address with a scheme. The provider decides which schemes it accepts. */
function isSource(url: string): boolean {
  return url.length <= limits.fetch.urlCharactersMax && /^[a-z][a-z0-9+.-]*:\/\/[^/\s]/i.test(url);
}
