/** What a task asks for, and the provider's jobs that follow from it: the same in every attempt. */
import type { BlobStore } from '../blob/blob.ts';
import { Failure } from '../kernel/failure.ts';
import type { ProviderJob, ProviderState } from '../kernel/provider-state.ts';
import { startsWithCount } from '../kernel/provider-state.ts';
import type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  HourPrice,
  NewBatchJob,
} from '../provider/batch/batch-provider.ts';
import type { BatchTaskRow } from '../store/batch-tasks.ts';

/** What is stored of what was asked for. */
export interface TaskInput {
  readonly dataset_ids: readonly string[];
  readonly models: readonly string[];
  readonly language?: string | undefined;
  readonly urls?: readonly string[];
  readonly invalid_urls?: readonly string[];
  /** The requests, as lines in the blob store. */
  readonly requests_key?: string;
  readonly requests?: number;
}

export function inputOf(row: Pick<BatchTaskRow, 'input'>): TaskInput {
  return JSON.parse(row.input);
}

export const transcription = 'transcription';

/** The configured providers, found by their name or by the name of a model. */
export class BatchProviders {
  readonly #providers: readonly BatchProvider[];

  constructor(providers: readonly BatchProvider[]) {
    this.#providers = providers;
  }

  get names(): string[] {
    return this.#providers.map(({ name }) => name);
  }

  byName(name: string | null, taskType: string): BatchProvider {
    return this.#named(name, taskType) ?? this.#raise(`${name} for ${taskType}`);
  }

  /** A task for somebody who is not configured any more is made all the same, and fails as one. */
  splitOf(name: string, taskType: string): BatchProvider['split'] {
    return this.#named(name, taskType)?.split ?? 'together';
  }

  #named(name: string | null, taskType: string): BatchProvider | undefined {
    return this.#providers.find((each) => each.name === name && each.taskTypes.includes(taskType));
  }

  byModel(model: string, taskType: string): BatchProvider {
    return this.#find(model, taskType) ?? this.#raise(`the model ${model}`);
  }

  has(model: string, taskType: string): boolean {
    return this.#find(model, taskType) !== undefined;
  }

  /** Whoever of them transcribes what stands at this address. */
  transcriberOf(address: string): string | undefined {
    return this.#providers.find(
      (each) => each.taskTypes.includes(transcription) && each.refuses?.(address) === undefined,
    )?.name;
  }

  hourPriceOf(name: string): HourPrice | undefined {
    return this.#named(name, transcription)?.hourPrice;
  }

  get hasTranscriber(): boolean {
    return this.#providers.some(({ taskTypes }) => taskTypes.includes(transcription));
  }

  #find(model: string, taskType: string): BatchProvider | undefined {
    return this.#providers.find(
      (each) => each.taskTypes.includes(taskType) && each.models?.test(model) === true,
    );
  }

  #raise(what: string): never {
    const known = this.names.join(', ') || 'none';
    throw new Failure(
      'provider_unknown',
      `no provider is configured for ${what}; there is: ${known}`,
    );
  }
}

export interface PlannedJob {
  readonly provider: BatchProvider;
  readonly job: NewBatchJob;
}

export function planJobs(
  row: BatchTaskRow,
  providers: BatchProviders,
  blobs: BlobStore,
): PlannedJob[] {
  const input = inputOf(row);
  const common = {
    taskType: row.task_type,
    language: input.language,
    requests: () => readRequests(blobs, input),
  };
  const make = (
    provider: BatchProvider,
    index: number,
    more: { model?: string; sources?: readonly string[] },
  ): PlannedJob => ({
    provider,
    job: { ...common, model: more.model, sources: more.sources ?? [], token: tokenOf(row, index) },
  });
  if (row.provider === null) {
    return input.models.map((model, index) =>
      make(providers.byModel(model, row.task_type), index, { model }),
    );
  }
  const provider = providers.byName(row.provider, row.task_type);
  const urls = input.urls ?? [];
  if (urls.length === 0) return [];
  const plans: Readonly<Record<BatchProvider['split'], () => PlannedJob[]>> = {
    together: () => [make(provider, 0, { sources: urls })],
    source: () => urls.map((url, index) => make(provider, index, { sources: [url] })),
    model: () =>
      input.models.map((model, index) => make(provider, index, { model, sources: urls })),
  };
  return plans[provider.split]();
}

/** Letters, digits and dashes: every provider takes it as a name. */
export function tokenOf({ key }: Pick<BatchTaskRow, 'key'>, index: number): string {
  return `pawl-${key}-${index}`;
}

export async function* readRequests(
  blobs: BlobStore,
  { requests_key: key }: TaskInput,
): AsyncGenerator<BatchRequest, void> {
  if (key === undefined) return;
  const text = new TextDecoder().decode(await blobs.get(key));
  for (const line of text.split('\n')) if (line !== '') yield JSON.parse(line);
}

/** How a submission went for one job. */
export type Begun = { readonly id: string } | { readonly error: string };

/** The state with which a task goes into progress. */
export function firstState(
  row: BatchTaskRow,
  planned: readonly PlannedJob[],
  begun: readonly Begun[],
): ProviderState {
  const { dataset_ids: datasets, invalid_urls: invalid = [] } = inputOf(row);
  const jobs = planned.map(({ job, provider }, index) =>
    firstEntry(row, { job, provider }, begun[index] ?? { error: 'it was never begun' }),
  );
  if (row.provider === null) {
    return { task_type: row.task_type, input_dataset_ids: datasets, jobs };
  }
  const map = planned.flatMap(({ job }, index): [string, string][] => {
    const outcome = begun[index];
    return outcome && 'id' in outcome ? [[outcome.id, job.sources[0] ?? '']] : [];
  });
  return {
    task_type: row.task_type,
    provider: row.provider,
    dataset_ids: datasets,
    invalid_urls: invalid,
    ...(row.provider === 'SARVAM' && { gcs_map: Object.fromEntries(map) }),
    jobs,
  };
}

function firstEntry(row: BatchTaskRow, { job, provider }: PlannedJob, outcome: Begun): ProviderJob {
  const [source = ''] = job.sources;
  return {
    ...(job.model !== undefined && { model: job.model }),
    external_job_id: 'id' in outcome ? outcome.id : '',
    ...(provider.name === 'AWS' && { gcs_uri: source, filename: fileNameOf(source) }),
    status: 'id' in outcome ? 'SUBMITTED' : 'FAILED',
    ...('error' in outcome && { error: outcome.error }),
    ...(startsWithCount(row.task_type, row.provider ?? undefined) && { transient_failures: 0 }),
  };
}

function fileNameOf(source: string): string {
  const path = URL.canParse(source) ? new URL(source).pathname : source;
  return path.split('/').at(-1) || source;
}

/** A job as its provider is asked about it. */
export function refOf({ job }: PlannedJob, entry: ProviderJob): BatchJobRef {
  const { taskType, token, model, sources } = job;
  return { taskType, token, model, sources, externalId: entry.external_job_id };
}
