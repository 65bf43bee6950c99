/** Pawl as a library: open a store, ingest into a corpus, search it. */

import { thisProcess } from './engine/liveness.ts';
import { whyDead } from './engine/rescuer.ts';
import { Job, type JobSummary, summarize } from './job-handle.ts';
import { Failure } from './kernel/failure.ts';
import type { JobState } from './kernel/job.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import {
  type Assembled,
  type AssembledPreview,
  type AssembleOptions,
  assemble,
  assemblePreview,
} from './main.ts';
import { checkPriced, type EmbedderSettings } from './models.ts';
import type { Estimate } from './pipeline/estimate.ts';
import type { SearchFilter, SearchMode } from './search/request.ts';
import type { Hit } from './search/search.ts';
import {
  type CrawlInput,
  crawlFrom,
  expandSources,
  isChangedSince,
  type SourceInput,
} from './sources.ts';
import { type CorpusSettings, getCorpusSettings } from './store/corpus-settings.ts';
import {
  type CorpusRow,
  documentIdOf,
  getDocument,
  type ListedDocument,
  listCorpora,
  listDocuments,
} from './store/documents.ts';
import {
  type DocumentEntity,
  type EntityRow,
  entitiesOfGeneration,
  listEntities,
  listRelated,
  type RelatedRow,
} from './store/entities.ts';
import { newestSequence } from './store/events.ts';
import { type CauseRow, findJobs, listCauses, listInbox, listOpenJobs } from './store/inbox.ts';
import { getItem, type ItemRow, listItems } from './store/items.ts';
import { findOpenCrawl, getJobById, type JobRow, listJobs } from './store/jobs.ts';
import { getSpending, type SpendingRow } from './store/spending.ts';
import type { NewSource } from './store/submit.ts';
import { listWorkers, type WorkerRow } from './store/workers.ts';

export { Job, type JobCounts, type JobSummary } from './job-handle.ts';
export { Failure, type FailureCode, failures } from './kernel/failure.ts';
export type { EmbedderSettings } from './models.ts';
export type { Event, EventKind } from './observe/event.ts';
export type { Estimate } from './pipeline/estimate.ts';
export type { Range as EstimateRange } from './pipeline/estimate-range.ts';
export type { SearchFilter, SearchMode } from './search/request.ts';
export type { Explanation, Hit } from './search/search.ts';
export type { CrawlInput, InlineDocument, SourceInput } from './sources.ts';
export type { CorpusRow, DocumentRow, ListedDocument } from './store/documents.ts';
export type { DocumentEntity, EntityRow, RelatedRow } from './store/entities.ts';
export type { CauseRow } from './store/inbox.ts';
export type { ItemRow } from './store/items.ts';

export interface OpenOptions {
  /** The folder of the store; `.pawl` where nothing is said. */
  readonly data?: string | undefined;
  /** The address of a Postgres database, instead of the embedded one. */
  readonly database?: string | undefined;
  /** Documents that are worked on at once. */
  readonly workers?: number | undefined;
  /** Exact `host:port` pairs that may be fetched from although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  /** A model that finds entities, behind an interface like OpenAI's; rules where absent. */
  readonly extractor?: AssembleOptions['extractor'];
  /** `off`, `auto`, or the path of a Chromium that shows pages which need their scripts. */
  readonly browser?: string | undefined;
  /** Which pages it shows: those that are `needed`, where nothing is said, or `always`. */
  readonly render?: AssembleOptions['render'];
  /** How fast single domains may be read: pages at once, and milliseconds apart. */
  readonly pace?: AssembleOptions['pace'];
  /** What turns text into vectors; the local one where nothing is said. */
  readonly embedder?: EmbedderSettings | undefined;
  /** False: this process only asks and commands, and leaves the work to others. */
  readonly work?: boolean | undefined;
  /** Called when something in the background failed and will be tried again. */
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  readonly world?: World | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: AssembleOptions['pipeline'];
}

export interface IngestOptions {
  readonly corpus: string;
  /** Indexes documents anew even if they have not changed. */
  readonly force?: boolean | undefined;
  /** From 0 to 9; higher goes first. */
  readonly priority?: number | undefined;
  /** What the job may cost: before it would cost more, it is paused. */
  readonly budgetCents?: number | undefined;
  /** Takes the addresses for where a crawl begins, and follows their links within the site. */
  readonly crawl?: CrawlInput | undefined;
  /** Goes on with an unfinished job of the same files, if there is one, instead of a second one. */
  readonly resume?: boolean | undefined;
}

export interface SearchOptions {
  readonly topK?: number | undefined;
  /** Keywords and vectors together, where nothing is said. */
  readonly mode?: SearchMode | undefined;
  readonly filter?: SearchFilter | undefined;
  /** Says of each hit what each list gave it. */
  readonly explain?: boolean | undefined;
}

/** Whoever has the store's folder may do everything in it: there is one caller. */
const caller = 'local';

/** Opens a store, makes it if it is not there, and goes on with whatever is unfinished in it. */
export async function open(options: OpenOptions = {}): Promise<Pawl> {
  const { data = '.pawl', database: databaseUrl, workers: places, ...rest } = options;
  const pawl = new Pawl(await assemble({ ...rest, data, databaseUrl, places }));
  if (options.work ?? true) await pawl.work();
  return pawl;
}

/** Opens what shows what would be indexed, without a store and without leaving a trace. */
export function openPreview(
  options: Pick<OpenOptions, 'allowHosts' | 'world'> = {},
): AssembledPreview {
  return assemblePreview(options);
}

export type Spending = SpendingRow & Partial<CorpusSettings>;

export class Pawl {
  readonly #assembled: Assembled;
  readonly #closing = new AbortController();
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(assembled: Assembled) {
    this.#assembled = assembled;
  }

  get store(): Assembled['database'] {
    return this.#assembled.database;
  }

  /** Begins to work on what is queued, unless this process already does. */
  work(): Promise<void> {
    this.#started ??= this.#assembled.engine.start();
    return this.#started;
  }

  /** Accepts the sources as one job. When this resolves, the job is on disk. */
  async ingest(inputs: readonly SourceInput[], options: IngestOptions): Promise<Job> {
    return this.submit(await expandSources(inputs), options);
  }

  /** The same for sources that `expandSources` has already looked at. */
  async submit(sources: readonly NewSource[], options: IngestOptions): Promise<Job> {
    const { corpus, force = false, priority, budgetCents } = options;
    if (budgetCents !== undefined) checkPriced(this.#assembled);
    const crawl = options.crawl && crawlFrom(sources, options.crawl);
    const same = options.resume
      ? await (crawl ? this.#findCrawl(sources, corpus) : this.#findSame(sources, corpus, force))
      : undefined;
    if (same) return this.#jobOf(same, true);
    const { commands } = this.#assembled.engine;
    const input = { caller, corpus, sources, crawl, force, priority, budgetCents };
    const { jobKey } = await commands.submit(input);
    return this.job(jobKey);
  }

  async search(corpus: string, query: string, options: SearchOptions = {}): Promise<Hit[]> {
    return this.#assembled.searcher.search({ ...options, caller, corpus, query });
  }

  /** The number of the newest event: what comes after it is new. */
  newestEvent(): Promise<number> {
    return newestSequence(this.store);
  }

  /** A job by its id, or by the beginning of it. */
  async job(id: string): Promise<Job> {
    const [row, other] = await findJobs(this.store, caller, id);
    if (row && (!other || row.key === id)) return this.#jobOf(row);
    if (other) throw new Failure('job_unknown', `more than one job begins with ${id}`);
    throw new Failure('job_unknown', `there is no job ${id}`);
  }

  /** Jobs, newest first. */
  async jobs(filter: { corpus?: string; state?: JobState; limit?: number } = {}) {
    const limit = filter.limit ?? limits.request.pageItemsDefault;
    const rows = await listJobs(this.store, { ...filter, caller, limit });
    return Promise.all(rows.map((row): Promise<JobSummary> => summarize(this.store, row)));
  }

  corpora(): Promise<CorpusRow[]> {
    return listCorpora(this.store, caller);
  }

  /** What a corpus has cost, or all of them; its model, and what it may cost. */
  async spending(corpus?: string): Promise<Spending> {
    const spent = await getSpending(this.store, { caller, corpus });
    const settings =
      corpus === undefined ? undefined : await getCorpusSettings(this.store, { caller, corpus });
    return { ...spent, ...settings };
  }

  /** What a corpus may cost in all; null: what it costs. */
  setCorpusBudget(corpus: string, budgetCents: number | null): Promise<void> {
    if (budgetCents !== null) checkPriced(this.#assembled);
    const { commands } = this.#assembled.engine;
    return commands.setCorpusBudget({ caller, corpus, budgetCents });
  }

  /**
   * Embeds a corpus anew with the model that is configured. It is searched with its old one until
   * every document has been embedded. Undefined: there was no document, and nothing to do.
   */
  async reembed(
    corpus: string,
    options: { budgetCents?: number | undefined } = {},
  ): Promise<Job | undefined> {
    const { engine, embedder } = this.#assembled;
    if (options.budgetCents !== undefined) checkPriced({ embedder });
    const { model } = embedder;
    const jobKey = await engine.commands.reembed({ caller, corpus, model, ...options });
    return jobKey === undefined ? undefined : this.job(jobKey);
  }

  /** What an ingestion would cost, before anything is paid or stored. */
  async estimate(
    inputs: readonly (SourceInput | NewSource)[],
    { corpus, crawl }: Pick<IngestOptions, 'corpus' | 'crawl'>,
  ): Promise<Estimate> {
    const sources: NewSource[] = [];
    for (const input of inputs) {
      const isReady = typeof input !== 'string' && 'kind' in input;
      sources.push(...(isReady ? [input] : await expandSources([input])));
    }
    const crawlPagesMax = crawl && crawlFrom(sources, crawl).pagesMax;
    return this.#assembled.estimate({ caller, corpus, sources, crawlPagesMax });
  }

  /** The documents of a corpus in pages, each after the last id of the one before. */
  documents(
    corpus: string,
    page: { after?: string; limit?: number } = {},
  ): Promise<ListedDocument[]> {
    const { after = '', limit = limits.request.pageItemsMax } = page;
    return listDocuments(this.store, { caller, corpus, after, limit });
  }

  /** Whom and what a corpus names, the most often named first. */
  entities(corpus: string, filter: { kind?: string; limit?: number } = {}): Promise<EntityRow[]> {
    const { kind, limit = limits.request.pageItemsDefault } = filter;
    return listEntities(this.store, { caller, corpus, kind, limit });
  }

  /** Whom and what one document names, and where in its text. */
  async documentEntities(
    id: string,
    filter: { kind?: string; limit?: number } = {},
  ): Promise<DocumentEntity[]> {
    const { kind, limit = limits.request.pageItemsMax } = filter;
    const row = await getDocument(this.store, id);
    if (row?.caller !== caller) throw new Failure('document_unknown', `there is no document ${id}`);
    return entitiesOfGeneration(this.store, row.generation_id, { kind, limit });
  }

  /** What is named together with an entity in the passages of a corpus. */
  related(corpus: string, name: string, filter: { limit?: number } = {}): Promise<RelatedRow[]> {
    const { limit = limits.request.pageItemsDefault } = filter;
    return listRelated(this.store, { caller, corpus, name, limit });
  }

  /** The processes that work on this store now. */
  async workers(): Promise<WorkerRow[]> {
    const workers = await listWorkers(this.store);
    const liveness = thisProcess();
    return workers.filter((worker) => !whyDead(worker, liveness, this.store.now()));
  }

  deleteDocument(id: string): Promise<void> {
    return this.#assembled.engine.commands.deleteDocument(caller, id);
  }

  /** Deletes the documents of a corpus, and the corpus. Returns how many documents went. */
  deleteCorpus(name: string): Promise<number> {
    return this.#assembled.engine.commands.deleteCorpus(caller, name);
  }

  causes(corpus?: string): Promise<CauseRow[]> {
    return listCauses(this.store, { caller, corpus });
  }

  /** Failed items in pages, each after the last id of the one before. */
  inbox(
    filter: { cause?: string; corpus?: string; after?: number; limit?: number } = {},
  ): Promise<ItemRow[]> {
    const { cause: code, corpus, after = 0, limit = limits.request.pageItemsMax } = filter;
    return listInbox(this.store, { caller, code, corpus, after, limit });
  }

  async item(id: number): Promise<ItemRow> {
    const row = await getItem(this.store, id, caller);
    if (row) return row;
    throw new Failure('item_unknown', `there is no item ${id}`);
  }

  /** The job that an item is part of. */
  async jobOf(item: ItemRow): Promise<Job> {
    const row = await getJobById(this.store, item.job_id);
    if (row) return this.#jobOf(row);
    throw new Failure('job_unknown', `there is no job of item ${item.id}`);
  }

  retryItems(ids: readonly number[]): Promise<number> {
    return this.#assembled.engine.commands.retryItems(caller, ids);
  }

  discardItems(ids: readonly number[]): Promise<number> {
    return this.#assembled.engine.commands.discardItems(caller, ids);
  }

  /** Hands back what is not finished, so that the next process goes on with it at once. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const { engine } = this.#assembled;
    // A start that failed has been told to whoever asked for it; what it left is stopped all the
    // same.
    await this.#started?.catch(() => undefined);
    if (this.#started) await engine.stop();
    else await engine.relay.close();
    await this.#assembled.close();
  }

  #jobOf(row: JobRow, isResumed = false): Job {
    const { commands, relay } = this.#assembled.engine;
    const closing = this.#closing.signal;
    return new Job(row, { caller, store: this.store, commands, relay, closing, isResumed });
  }

  /**
   * An unfinished job of exactly these documents. A file that was written after the job was
   * submitted may already have been read: then it takes a new job to see the new text.
   */
  /** A crawl is the same while it has not ended, however far it has come. */
  async #findCrawl(sources: readonly NewSource[], corpus: string): Promise<JobRow | undefined> {
    return findOpenCrawl(this.store, { caller, corpus, url: sources[0]?.source ?? '' });
  }

  async #findSame(
    sources: readonly NewSource[],
    corpus: string,
    force: boolean,
  ): Promise<JobRow | undefined> {
    if (sources.some(({ kind }) => kind === 'inline')) return undefined;
    const ids = new Set(sources.map(({ source }) => documentIdOf(caller, corpus, source)));
    const jobs = await listOpenJobs(this.store, {
      caller,
      corpus,
      items_total: ids.size,
      force: force ? 1 : 0,
      limit: limits.request.pageItemsDefault,
    });
    for (const job of jobs) {
      if (job.type !== 'ingest' || !(await this.#hasOnly(job, ids))) continue;
      return (await isChangedSince(sources, job.created_at)) ? undefined : job;
    }
    return undefined;
  }

  async #hasOnly(job: JobRow, documentIds: ReadonlySet<string>): Promise<boolean> {
    const limit = limits.event.pageMax;
    for (let after = 0, isFull = true; isFull; ) {
      const items = await listItems(this.store, { jobId: job.id, after, limit });
      if (!items.every(({ document_id }) => documentIds.has(document_id))) return false;
      after = items.at(-1)?.id ?? after;
      isFull = items.length === limit;
    }
    return true;
  }
}
