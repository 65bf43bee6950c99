/** What a task asks for, and the provider's jobs that follow from it: the same in every try. */
import { type BlobStore, getPieces } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { isSameHost } from '../../kernel/name/origin.ts';
import type { ProviderJob, ProviderState } from '../../kernel/provider-state.ts';
import { namesModel, startsWithCount } from '../../kernel/provider-state.ts';
import { readLines } from '../../kernel/text/lines.ts';
import type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  HourPrice,
  NewBatchJob,
} from '../../provider/batch/batch-provider.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';

/** The stored input of a task. */
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

/** The configured providers, found by their name or by a model name. */
export class BatchProviders {
  readonly #providers: readonly BatchProvider[];

  constructor(providers: readonly BatchProvider[]) {
    this.#providers = providers;
  }

  get all(): readonly BatchProvider[] {
    return this.#providers;
  }

  get names(): string[] {
    return this.#providers.map(({ name }) => name);
  }

  byName(name: string | null, taskType: string): BatchProvider {
    return this.#named(name, taskType) ?? this.#raise(`${name} for ${taskType}`);
  }

  /** Whether this process has all of these comma-separated providers. */
  serves(servedBy: string): boolean {
    return servedBy.split(',').every((name) => this.names.includes(name));
  }

  /** The configured ones among the named providers. */
  among(servedBy: string): BatchProviders {
    const names = servedBy.split(',');
    return new BatchProviders(this.#providers.filter(({ name }) => names.includes(name)));
  }

  #named(name: string | null, taskType: string): BatchProvider | undefined {
    return this.#providers.find((each) => each.name === name && each.taskTypes.includes(taskType));
  }

  byModel(model: string, taskType: string): BatchProvider {
    return this.#find(model, taskType) ?? this.#raise(`the model ${model}`);
  }

  /** Whether a provider has the model; with an address, only a provider on that host counts. */
  has(model: string, taskType: string, url?: string): boolean {
    const found = this.#find(model, taskType);
    if (!found) return false;
    return found.url === undefined || url === undefined || isSameHost(found.url, url);
  }

  /** The address where a provider transcribes; undefined if only its adapter knows. */
  urlOf(name: string): string | undefined {
    return this.#named(name, transcription)?.url;
  }

  /** The provider that transcribes at this address. */
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
      `no provider is configured for ${what}; configured: ${known}`,
    );
  }
}

/** The names of the providers that a task needs; undefined if this process lacks one. */
export function servedByOf(
  task: Pick<BatchTaskRow, 'provider' | 'task_type' | 'input'>,
  providers: BatchProviders,
): string | undefined {
  const { provider, task_type: taskType } = task;
  if (provider !== null) return providers.names.includes(provider) ? provider : undefined;
  const { models } = inputOf(task);
  if (!models.every((model) => providers.has(model, taskType))) return undefined;
  return servedByModels(models, taskType, providers);
}

/** The same for models of this process. */
export function servedByModels(
  models: readonly string[],
  taskType: string,
  providers: BatchProviders,
): string {
  const names = models.map((model) => providers.byModel(model, taskType).name);
  return [...new Set(names)].sort().join();
}

export interface PlannedJob {
  readonly provider: BatchProvider;
  readonly job: NewBatchJob;
}

export function planJobs(
  row: BatchTaskRow,
  configured: BatchProviders,
  blobs: BlobStore,
): PlannedJob[] {
  const input = inputOf(row);
  // A model that two providers have stays with the provider that the task was made for.
  const providers = row.served_by === null ? configured : configured.among(row.served_by);
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
  const [model] = input.models;
  const first = model === undefined ? {} : { model };
  const plans: Readonly<Record<BatchProvider['split'], () => PlannedJob[]>> = {
    together: () => [make(provider, 0, { ...first, sources: urls })],
    source: () => urls.map((url, index) => make(provider, index, { ...first, sources: [url] })),
    model: () =>
      input.models.map((model, index) => make(provider, index, { model, sources: urls })),
    source_and_model: () =>
      input.models
        .flatMap((model) => urls.map((url) => ({ model, sources: [url] })))
        .map((more, index) => make(provider, index, more)),
  };
  return plans[provider.split]();
}

/** Letters, digits and dashes: every provider accepts it as a name. */
export function tokenOf({ key }: Pick<BatchTaskRow, 'key'>, index: number): string {
  return `pawl-${key}-${index}`;
}

export async function* readRequests(
  blobs: BlobStore,
  { requests_key: key }: TaskInput,
): AsyncGenerator<BatchRequest, void> {
  if (key === undefined) return;
  for await (const line of readLines(await getPieces(blobs, key))) yield JSON.parse(line);
}

/** The number of results expected from one job. */
export function askedOf({ job }: PlannedJob, row: Pick<BatchTaskRow, 'input'>): number {
  return job.sources.length > 0 ? job.sources.length : (inputOf(row).requests ?? 0);
}

/** The outcome of a submission for one job. */
export type Begun = { readonly id: string } | { readonly error: string };

/** The initial provider state of a task in progress. */
export function firstState(
  row: BatchTaskRow,
  planned: readonly PlannedJob[],
  begun: readonly Begun[],
): ProviderState {
  const { dataset_ids: datasets, invalid_urls: invalid = [] } = inputOf(row);
  const jobs = planned.map(({ job, provider }, index) =>
    firstEntry(row, { job, provider }, begun[index] ?? { error: 'it was never started' }),
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
    ...(job.model !== undefined && namesModel(row.task_type, row.provider ?? undefined)
      ? { model: job.model }
      : {}),
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

/** A job as its provider identifies it. */
export function refOf({ job }: PlannedJob, entry: ProviderJob): BatchJobRef {
  const { taskType, token, model, sources } = job;
  return { taskType, token, model, sources, externalId: entry.external_job_id };
}
