/**
 * What a task stores about its jobs at a provider. The shapes are part of the contract: other
 * programs read them in the database. One schema per kind of task and provider, checked on write
 * and on read; unknown fields are refused.
 */

import { Failure } from './failure/failure.ts';
import { type BatchJobEvent, type BatchJobState, batchJob } from './lifecycle/batch-job.ts';
import { transition } from './lifecycle/machine.ts';
import { limits } from './limits/limits.ts';

export const jobStatuses = [
  'SUBMITTED',
  'RUNNING',
  'COMPLETED',
  'PARTIAL_COMPLETE',
  'FAILED',
] as const;

export type JobStatus = (typeof jobStatuses)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ProviderJob {
  readonly model?: string;
  readonly external_job_id: string;
  readonly gcs_uri?: string;
  readonly filename?: string;
  readonly status: JobStatus;
  readonly result?: readonly JsonObject[];
  readonly output_uri?: string;
  readonly error?: string;
  readonly transient_failures?: number;
}

export interface ProviderState {
  readonly task_type: string;
  readonly provider?: string;
  readonly dataset_ids?: readonly string[];
  readonly input_dataset_ids?: readonly string[];
  readonly invalid_urls?: readonly string[];
  readonly gcs_map?: Readonly<Record<string, string>>;
  readonly jobs: readonly ProviderJob[];
}

type FieldKind = 'text' | 'texts' | 'map' | 'count' | 'objects' | 'status' | 'jobs';
/** A question mark means that the field appears later, or never. */
type Fields = Readonly<Record<string, FieldKind | `${FieldKind}?`>>;

interface Schema {
  readonly state: Fields;
  readonly job: Fields;
}

const transcription: Fields = {
  task_type: 'text',
  provider: 'text',
  dataset_ids: 'texts',
  invalid_urls: 'texts',
  jobs: 'jobs',
};
const transcriptionJob: Fields = {
  external_job_id: 'text',
  status: 'status',
  result: 'objects?',
  error: 'text?',
  transient_failures: 'count',
};
const completion: Schema = {
  state: { task_type: 'text', input_dataset_ids: 'texts', jobs: 'jobs' },
  job: {
    model: 'text',
    status: 'status',
    external_job_id: 'text',
    output_uri: 'text?',
    error: 'text?',
    transient_failures: 'count',
  },
};

const schemas: Readonly<Record<string, Schema>> = {
  'transcription AZURE': {
    state: transcription,
    // New jobs have no error count: it appears with the first error.
    job: { ...transcriptionJob, transient_failures: 'count?' },
  },
  'transcription SARVAM': { state: { ...transcription, gcs_map: 'map' }, job: transcriptionJob },
  'transcription AWS': {
    state: transcription,
    job: { ...transcriptionJob, gcs_uri: 'text', filename: 'text' },
  },
  'transcription GOOGLE': { state: transcription, job: { ...transcriptionJob, model: 'text' } },
  completion,
  embedding: completion,
};

/** For a provider that was added without its own schema. */
const general: Schema = {
  state: {
    task_type: 'text',
    provider: 'text?',
    dataset_ids: 'texts?',
    input_dataset_ids: 'texts?',
    invalid_urls: 'texts?',
    gcs_map: 'map?',
    jobs: 'jobs',
  },
  job: {
    ...transcriptionJob,
    model: 'text?',
    output_uri: 'text?',
    gcs_uri: 'text?',
    filename: 'text?',
    transient_failures: 'count?',
  },
};

/** Returns the value typed, or throws with the first thing that is wrong. */
export function checkProviderState(value: unknown): ProviderState {
  if (!isObject(value)) throw invalid('it is not an object');
  const { state, job } = schemaOf(value);
  checkFields(value, state, 'the state');
  for (const [index, entry] of (value.jobs as readonly unknown[]).entries()) {
    checkFields(entry, job, `job ${index}`);
  }
  return value as unknown as ProviderState;
}

function schemaOf(value: JsonObject): Schema {
  const { task_type: type, provider } = value;
  return schemas[`${String(type)} ${String(provider)}`] ?? schemas[String(type)] ?? general;
}

/** Whether a job of such a task records its model. */
export function namesModel(taskType: string, provider: string | undefined): boolean {
  return schemaOf({ task_type: taskType, provider }).job.model !== undefined;
}

/** Whether a new job starts with an error count. */
export function startsWithCount(taskType: string, provider: string | undefined): boolean {
  const { job } = schemaOf({ task_type: taskType, provider });
  return job.transient_failures === 'count';
}

function checkFields(value: unknown, fields: Fields, what: string): void {
  if (!isObject(value)) throw invalid(`${what} is not an object`);
  const extra = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (extra !== undefined) throw invalid(`${what} has a field ${extra}`);
  for (const [name, field] of Object.entries(fields)) {
    const kind = field.replace('?', '') as FieldKind;
    if (value[name] === undefined && field.endsWith('?')) continue;
    if (!checks[kind](value[name])) throw invalid(`${name} of ${what} is not ${meanings[kind]}`);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const checks: Readonly<Record<FieldKind, (value: unknown) => boolean>> = {
  text: isText,
  texts: (value) => Array.isArray(value) && value.every(isText),
  map: (value) => isObject(value) && Object.values(value).every(isText),
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  objects: (value) => Array.isArray(value) && value.every(isObject),
  status: (value) => jobStatuses.some((status) => status === value),
  jobs: (value) => Array.isArray(value),
};

const meanings: Readonly<Record<FieldKind, string>> = {
  text: 'a text',
  texts: 'a list of texts',
  map: 'an object of texts',
  count: 'a whole number from 0',
  objects: 'a list of objects',
  status: `one of ${jobStatuses.join(', ')}`,
  jobs: 'a list of jobs',
};

function isObject(value: unknown): value is JsonObject {
  return value instanceof Object && !Array.isArray(value);
}

function invalid(what: string): Failure {
  return new Failure('provider_state_invalid', `the provider state is damaged: ${what}`);
}

/** The stored word as a state of the machine in `batch-job.ts`. */
export const stateOfStatus: Readonly<Record<JobStatus, BatchJobState>> = {
  SUBMITTED: 'submitted',
  RUNNING: 'running',
  COMPLETED: 'completed',
  PARTIAL_COMPLETE: 'completed',
  FAILED: 'failed',
};

const statusOfState: Readonly<Record<BatchJobState, JobStatus>> = {
  submitted: 'SUBMITTED',
  running: 'RUNNING',
  completed: 'COMPLETED',
  failed: 'FAILED',
};

/** The stored word after a move of the job. The table has no such move: that is a defect. */
export function statusAfter({ status }: ProviderJob, event: BatchJobEvent): JobStatus {
  const to = transition(batchJob, stateOfStatus[status], event);
  if (to === undefined) throw new Error(`provider job: no ${event} in ${status}`);
  return statusOfState[to];
}

/** Failed by consecutive poll errors: the provider may still run it. */
export function isGivenUp({ status, transient_failures: errors = 0 }: ProviderJob): boolean {
  return status === 'FAILED' && errors >= limits.batch.pollErrorsMax;
}
