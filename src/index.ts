/** Pawl as a library: open a store, ingest into a corpus, search it. */

import type { CallerClient } from './access/caller-client.ts';
import { listVisibleCorpora } from './access/visible-corpora.ts';
import { type Assembled, type AssembledPreview, assemble, assemblePreview } from './app/wire.ts';
import type { Why } from './contract/schema/schema.ts';
import { outputOf } from './engine/batch/commands.ts';
import { readWaiting } from './engine/batch/waiting.ts';
import { checkPriced } from './engine/command/admission.ts';
import { type CorpusOrigins, readOrigins } from './engine/command/origins.ts';
import { thisProcess } from './engine/item/liveness.ts';
import { whyDead } from './engine/item/rescuer.ts';
import { Failure } from './kernel/failure/failure.ts';
import type { BatchTaskState } from './kernel/lifecycle/batch-task.ts';
import type { JobState } from './kernel/lifecycle/job.ts';
import { limits } from './kernel/limits/limits.ts';
import { findUnfinished } from './library/find-resumable-job.ts';
import { Job, summarize } from './library/job-handle.ts';
import type { IngestOptions, OpenOptions, SearchOptions } from './library/options.ts';
import { callersOf, OwnCorpora, type Spending } from './library/own-corpora.ts';
import type { Estimate } from './pipeline/estimate/estimate.ts';
import type { Hit } from './search/search.ts';
import { ProgressBoard } from './service/view/progress-board.ts';
import { whyOf } from './service/view/why.ts';
import { crawlFrom, expandSources, type SourceInput } from './source/sources.ts';
import { type BatchTaskRow, findBatchTasks, listBatchTasks } from './store/batch/tasks.ts';
import type { ShareAccess, ShareRow } from './store/corpus/access.ts';
import { newestSequence } from './store/delivery/events.ts';
import { type CorpusRow, type ListedDocument, listDocuments } from './store/document/documents.ts';
import {
  type DocumentEntity,
  type EntityRow,
  entitiesOfGeneration,
  listEntities,
  listRelated,
  type RelatedRow,
} from './store/document/entities.ts';
import { type CauseRow, findJobs, listCauses, listInbox } from './store/item/inbox.ts';
import { getItem, type ItemRow } from './store/item/items.ts';
import { listWorkers, type WorkerRow } from './store/item/workers.ts';
import { getJob, getJobById, type JobRow, listJobs } from './store/job/jobs.ts';
import type { NewSource } from './store/job/submit.ts';

export type { EmbedderSettings } from './app/adapter/models.ts';
export type { CorpusOrigins } from './engine/command/origins.ts';
export { Failure, type FailureCode, failures } from './kernel/failure/failure.ts';
export { Job, type JobCounts, type JobSummary } from './library/job-handle.ts';
export type { IngestOptions, OpenOptions, SearchOptions } from './library/options.ts';
export type { Spending } from './library/own-corpora.ts';
export type { Event, EventKind } from './observe/event.ts';
export type { Estimate } from './pipeline/estimate/estimate.ts';
export type { Range as EstimateRange } from './pipeline/estimate/range.ts';
export type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
  SubmitContext,
} from './provider/batch/batch-provider.ts';
export type { SearchFilter, SearchMode } from './search/request.ts';
export type { Explanation, Hit } from './search/search.ts';
export type { CrawlInput, InlineDocument, SourceInput } from './source/sources.ts';
export type { BatchTaskRow } from './store/batch/tasks.ts';
export type { CorpusRow, DocumentRow, ListedDocument } from './store/document/documents.ts';
export type { DocumentEntity, EntityRow, RelatedRow } from './store/document/entities.ts';
export type { CauseRow } from './store/item/inbox.ts';
export type { ItemRow } from './store/item/items.ts';
export type { JobCounters } from './store/job/counters.ts';

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
  options: Pick<OpenOptions, 'allowHosts' | 'browser' | 'render' | 'world'> = {},
): AssembledPreview {
  return assemblePreview(options);
}

export class Pawl {
  readonly #assembled: Assembled;
  readonly #own: OwnCorpora;
  readonly #closing = new AbortController();
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(assembled: Assembled) {
    this.#assembled = assembled;
    this.#own = new OwnCorpora(assembled, caller);
  }

  get store(): Assembled['database'] {
    return this.#assembled.database;
  }

  /** Whether Postgres searches vectors; undefined where the store is none. */
  get pgvector(): Assembled['pgvector'] {
    return this.#assembled.pgvector;
  }

  /** The interactive ingestions of this process, one for each caller. */
  get attempt(): Assembled['attempt'] {
    return this.#assembled.attempt;
  }

  /** Begins to work on what is queued, unless this process already does. */
  work(): Promise<void> {
    this.#started ??= this.#assembled.engine.start().then(() => this.#assembled.batch.start());
    return this.#started;
  }

  /** Accepts the sources as one job. When this resolves, the job is on disk. */
  async ingest(inputs: readonly SourceInput[], options: IngestOptions): Promise<Job> {
    return this.submit(await expandSources(inputs, options), options);
  }

  /** The same for sources that `expandSources` has already looked at. */
  async submit(sources: readonly NewSource[], options: IngestOptions): Promise<Job> {
    const { force = false, priority, budgetCents, lane, maxWallSeconds } = options;
    if (budgetCents !== undefined) checkPriced(this.#assembled);
    const crawl = options.crawl && crawlFrom(sources, options.crawl);
    const { name: corpus } = await this.#assembled.corpora.target(caller, options.corpus);
    const wanted = { caller, corpus, sources, isCrawl: crawl !== undefined, force };
    const same = options.resume ? await findUnfinished(this.store, wanted) : undefined;
    if (same) return this.#jobOf(same, true);
    const { commands } = this.#assembled.engine;
    const chosen = { force, priority, budgetCents, lane, maxWallSeconds };
    const { jobKey } = await commands.submit({ caller, corpus, sources, crawl, ...chosen });
    const row = await getJob(this.store, jobKey);
    if (!row) throw new Failure('job_unknown', `there is no job ${jobKey}`);
    return this.#jobOf(row);
  }

  async search(corpus: string, query: string, options: SearchOptions = {}): Promise<Hit[]> {
    return this.#assembled.searcher.search({
      ...options,
      ...(await this.#own.place(corpus)),
      query,
    });
  }

  /** Why a document is in the results, or is not; with a query, the passage that answers it. */
  async why(corpus: string, url: string, query?: string): Promise<Why> {
    const { database, lifecycle, searcher } = this.#assembled;
    const { name } = await this.corpus(corpus);
    const looking = { database, lifecycle, searcher, progress: new ProgressBoard() };
    return whyOf(looking, { ...(await this.#own.place(corpus)), name, url, query });
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
    const corpus = await this.#own.fullName(filter.corpus);
    const rows = await listJobs(this.store, { ...filter, corpus, caller, limit });
    return summarize(this.store, rows);
  }

  /** The corpora by name in pages, each after the last name of the one before. */
  corpora(page: { after?: string; limit?: number } = {}): Promise<CorpusRow[]> {
    const { after = '', limit = limits.request.pageItemsMax } = page;
    return listVisibleCorpora(this.#assembled, caller, { after, limit });
  }

  async corpus(name: string): Promise<CorpusRow> {
    return this.#own.row(name);
  }

  /** What a corpus has cost, or all of them; its model, and what it may cost. */
  async spending(name?: string): Promise<Spending> {
    return this.#own.spending(name);
  }

  /** What a corpus may cost in all; null: what it costs. */
  async setCorpusBudget(name: string, budgetCents: number | null): Promise<void> {
    if (budgetCents !== null) checkPriced(this.#assembled);
    const { commands } = this.#assembled.engine;
    const { name: corpus } = await this.#assembled.corpora.find(caller, name, 'write');
    return commands.setCorpusBudget({ caller, corpus, budgetCents });
  }

  /**
   * Embeds a corpus anew with the model that is configured. It is searched with its old one until
   * every document has been embedded. Undefined: there was no document, and nothing to do.
   */
  async reembed(
    name: string,
    options: { budgetCents?: number | undefined } = {},
  ): Promise<Job | undefined> {
    const { engine, embedder } = this.#assembled;
    const { name: corpus } = await this.#assembled.corpora.find(caller, name, 'own');
    if (options.budgetCents !== undefined) checkPriced({ embedder });
    const { model, origin } = embedder;
    const jobKey = await engine.commands.reembed({ caller, corpus, model, origin, ...options });
    return jobKey === undefined ? undefined : this.job(jobKey);
  }

  /** Where text of a corpus is sent to, and where this process would send it. */
  origins(corpus: string): Promise<CorpusOrigins> {
    return readOrigins(this.store, { caller, corpus }, this.#assembled.origins);
  }

  /** A model has moved: text of the corpus is sent to the addresses that are configured here. */
  acceptOrigins(corpus: string): Promise<CorpusOrigins> {
    const { engine, origins } = this.#assembled;
    return engine.commands.acceptOrigins({ caller, corpus }, origins);
  }

  /** What an ingestion would cost, before anything is paid or stored. */
  async estimate(
    inputs: readonly (SourceInput | NewSource)[],
    { corpus: name, crawl }: Pick<IngestOptions, 'corpus' | 'crawl'>,
  ): Promise<Estimate> {
    const { name: corpus } = await this.#assembled.corpora.target(caller, name);
    const sources: NewSource[] = [];
    for (const input of inputs) {
      const isReady = typeof input !== 'string' && 'kind' in input;
      sources.push(...(isReady ? [input] : await expandSources([input])));
    }
    const crawlPagesMax = crawl && crawlFrom(sources, crawl).pagesMax;
    return this.#assembled.estimate({ caller, corpus, sources, crawlPagesMax });
  }

  /** The documents of a corpus in pages, each after the last id of the one before. */
  async documents(
    corpus: string,
    page: { after?: string; limit?: number; partlyRead?: boolean } = {},
  ): Promise<ListedDocument[]> {
    const { after = '', limit = limits.request.pageItemsMax, partlyRead } = page;
    const place = await this.#own.place(corpus);
    return listDocuments(this.store, { ...place, after, limit, partlyRead });
  }

  /** Whom and what a corpus names, the most often named first. */
  async entities(
    corpus: string,
    filter: { kind?: string; limit?: number } = {},
  ): Promise<EntityRow[]> {
    const { kind, limit = limits.request.pageItemsDefault } = filter;
    return listEntities(this.store, { ...(await this.#own.place(corpus)), kind, limit });
  }

  /** Whom and what one document names, and where in its text. */
  async documentEntities(
    id: string,
    filter: { kind?: string; limit?: number } = {},
  ): Promise<DocumentEntity[]> {
    const { kind, limit = limits.request.pageItemsMax } = filter;
    const row = await this.#own.document(id, 'read');
    return entitiesOfGeneration(this.store, row.generation_id, { kind, limit });
  }

  /** What is named together with an entity in the passages of a corpus. */
  async related(
    corpus: string,
    name: string,
    filter: { limit?: number } = {},
  ): Promise<RelatedRow[]> {
    const { limit = limits.request.pageItemsDefault } = filter;
    return listRelated(this.store, { ...(await this.#own.place(corpus)), name, limit });
  }

  /** The processes that work on this store now. */
  async workers(): Promise<WorkerRow[]> {
    const workers = await listWorkers(this.store);
    const liveness = thisProcess();
    return workers.filter((worker) => !whyDead(worker, liveness, this.store.now()));
  }

  /** Whether some process works on this store now. */
  async isWorkedOn(): Promise<boolean> {
    return (await this.workers()).length > 0;
  }

  async deleteDocument(id: string): Promise<void> {
    const row = await this.#own.document(id, 'write');
    return this.#assembled.engine.commands.deleteDocument(row.caller, id);
  }

  /** Deletes the documents of a corpus, and the corpus. Returns how many documents went. */
  async deleteCorpus(name: string): Promise<number> {
    return this.#own.delete(name);
  }

  /** With whom a corpus is shared. */
  shares(name: string): Promise<ShareRow[]> {
    return this.#own.shares(name);
  }

  /** Lets another caller, by its id or its name, read a corpus, or write to it as well. */
  share(name: string, guest: string, access: ShareAccess = 'read'): Promise<void> {
    return this.#own.share(name, guest, access);
  }

  /** False: it was not shared with this caller. */
  unshare(name: string, guest: string): Promise<boolean> {
    return this.#own.unshare(name, guest);
  }

  /** Who is who in this store: keys, moves. */
  get callers(): CallerClient {
    return callersOf(this.#assembled);
  }

  async causes(corpus?: string): Promise<CauseRow[]> {
    return listCauses(this.store, { caller, corpus: await this.#own.fullName(corpus) });
  }

  /** Failed items in pages, each after the last id of the one before. */
  async inbox(
    filter: { cause?: string; corpus?: string; after?: number; limit?: number } = {},
  ): Promise<ItemRow[]> {
    const { cause: code, after = 0, limit = limits.request.pageItemsMax } = filter;
    const corpus = await this.#own.fullName(filter.corpus);
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

  /** Accepts a batch task. When this resolves, it is on disk; its provider hears of it later. */
  async submitBatchTask(body: unknown): Promise<string> {
    return (await this.#assembled.batch.commands.submit(caller, body)).key;
  }

  /** Batch tasks, newest first. */
  batchTasks(
    filter: { state?: BatchTaskState; before?: number; limit?: number } = {},
  ): Promise<BatchTaskRow[]> {
    const { limit = limits.request.pageItemsDefault } = filter;
    return listBatchTasks(this.store, { ...filter, caller, limit });
  }

  /** A batch task by its id, or by the beginning of it. */
  async batchTask(id: string): Promise<BatchTaskRow> {
    const [row, other] = await findBatchTasks(this.store, caller, id);
    if (row && !other) return row;
    const message = other ? `more than one batch task begins with ${id}` : undefined;
    throw new Failure('batch_task_unknown', message ?? `there is no batch task ${id}`);
  }

  /** Why a batch task waits for longer than usual; null where it does not. */
  async batchTaskWaiting(row: BatchTaskRow): Promise<string | null> {
    return (await readWaiting(this.store))(row);
  }

  /** The merged results of a batch task, as bytes of JSON in pieces. */
  async batchOutput(id: string): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]> {
    return outputOf(await this.batchTask(id), this.#assembled.blobs);
  }

  /** Ends a batch task here at once, and at its provider as soon as that can be reached. */
  cancelBatchTask(id: string): Promise<void> {
    return this.#assembled.batch.commands.cancel(caller, id);
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
    const { engine, attempt } = this.#assembled;
    await attempt.close();
    // A start that failed has been told to whoever asked for it; what it left is stopped all the
    // same.
    await this.#started?.catch(() => undefined);
    await this.#assembled.batch.stop();
    if (this.#started) await engine.stop();
    else await engine.relay.close();
    await this.#assembled.close();
  }

  #jobOf(row: JobRow, isResumed = false): Job {
    const { commands, relay } = this.#assembled.engine;
    const closing = this.#closing.signal;
    return new Job(row, { caller, store: this.store, commands, relay, closing, isResumed });
  }
}
