/** A store that is open: ingest into its corpora, search them, and follow its jobs. */

import type { CallerClient } from '../access/caller-client.ts';
import { listVisibleCorpora } from '../access/visible-corpora.ts';
import type { Assembled } from '../app/wire.ts';
import type { Why } from '../contract/schema/schema.ts';
import { outputOf } from '../engine/batch/commands.ts';
import { readWaiting } from '../engine/batch/waiting.ts';
import { checkPriced } from '../engine/command/admission.ts';
import { type CorpusOrigins, readOrigins } from '../engine/command/origins.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import { whyDead } from '../engine/item/rescuer.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { BatchTaskState } from '../kernel/lifecycle/batch-task.ts';
import type { JobState } from '../kernel/lifecycle/job.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Estimate } from '../pipeline/estimate/estimate.ts';
import type { Found, Hit } from '../search/search.ts';
import { ProgressBoard } from '../service/view/progress-board.ts';
import { whyOf } from '../service/view/why.ts';
import { crawlFrom, expandSources, type SourceInput } from '../source/sources.ts';
import { type BatchTaskRow, findBatchTasks, listBatchTasks } from '../store/batch/tasks.ts';
import type { ShareAccess, ShareRow } from '../store/corpus/access.ts';
import { newestSequence } from '../store/delivery/events.ts';
import { type CorpusRow, type ListedDocument, listDocuments } from '../store/document/documents.ts';
import {
  type DocumentEntity,
  type EntityRow,
  entitiesOfGeneration,
  listEntities,
  listRelated,
  type RelatedRow,
} from '../store/document/entities.ts';
import { type CauseRow, findJobs, listCauses, listInbox } from '../store/item/inbox.ts';
import { getItem, type ItemRow } from '../store/item/items.ts';
import { listWorkers, type WorkerRow } from '../store/item/workers.ts';
import { getJob, getJobById, type JobRow, listJobs } from '../store/job/jobs.ts';
import type { NewSource } from '../store/job/submit.ts';
import { findUnfinished } from './find-resumable-job.ts';
import { Job, summarize } from './job-handle.ts';
import { type Ask, localAsk } from './local-ask.ts';
import type { IngestOptions, SearchOptions } from './options.ts';
import { callersOf, OwnCorpora, type Spending } from './own-corpora.ts';

/** Access to the store's folder grants access to everything in it: there is one caller. */
const caller = 'local';

export class Pawl {
  readonly #assembled: Assembled;
  readonly #own: OwnCorpora;
  /** Calls a route of the HTTP API in this process: the same requests and responses. */
  readonly ask: Ask;
  readonly #closing = new AbortController();
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(assembled: Assembled) {
    this.#assembled = assembled;
    this.#own = new OwnCorpora(assembled, caller);
    this.ask = localAsk(assembled);
  }

  get store(): Assembled['database'] {
    return this.#assembled.database;
  }

  /** Whether Postgres searches vectors; undefined if the store is not Postgres. */
  get pgvector(): Assembled['pgvector'] {
    return this.#assembled.pgvector;
  }

  /** The interactive imports of this process, one for each caller. */
  get attempt(): Assembled['attempt'] {
    return this.#assembled.attempt;
  }

  /** Starts to process the queue, unless this process already does. */
  work(): Promise<void> {
    this.#started ??= this.#assembled.engine.start().then(() => this.#assembled.batch.start());
    return this.#started;
  }

  /** Accepts the sources as one job. When this resolves, the job is on disk. */
  async ingest(inputs: readonly SourceInput[], options: IngestOptions): Promise<Job> {
    return this.submit(await expandSources(inputs, options), options);
  }

  /** The same for sources that `expandSources` has returned. */
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

  /** The same with the number of all matches, facets, and a correction of the query. */
  async find(corpus: string, query: string, options: SearchOptions = {}): Promise<Found> {
    return this.#assembled.searcher.find({
      ...options,
      ...(await this.#own.place(corpus)),
      query,
    });
  }

  /** Why a document is in the results or not; with a query, also its best passage. */
  async why(corpus: string, url: string, query?: string): Promise<Why> {
    const { database, lifecycle, searcher } = this.#assembled;
    const { name } = await this.corpus(corpus);
    const looking = { database, lifecycle, searcher, progress: new ProgressBoard() };
    return whyOf(looking, { ...(await this.#own.place(corpus)), name, url, query });
  }

  /** The number of the newest event. */
  newestEvent(): Promise<number> {
    return newestSequence(this.store);
  }

  /** A job by its id, or by a unique prefix of it. */
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

  /** Corpora in pages, ordered by name; `after` is the last name of the previous page. */
  corpora(page: { after?: string; limit?: number } = {}): Promise<CorpusRow[]> {
    const { after = '', limit = limits.request.pageItemsMax } = page;
    return listVisibleCorpora(this.#assembled, caller, { after, limit });
  }

  async corpus(name: string): Promise<CorpusRow> {
    return this.#own.row(name);
  }

  /** The spending of a corpus (or of all of them), its model and its budget. */
  async spending(name?: string): Promise<Spending> {
    return this.#own.spending(name);
  }

  /** Sets the total budget of a corpus; null removes it. */
  async setCorpusBudget(name: string, budgetCents: number | null): Promise<void> {
    if (budgetCents !== null) checkPriced(this.#assembled);
    const { commands } = this.#assembled.engine;
    const { name: corpus } = await this.#assembled.corpora.find(caller, name, 'write');
    return commands.setCorpusBudget({ caller, corpus, budgetCents });
  }

  /**
   * Re-embeds a corpus with the configured model. Searches use the old model until every document
   * has been embedded. Returns undefined if the corpus has no documents.
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

  /** Where text of a corpus is sent, and where this process would send it. */
  origins(corpus: string): Promise<CorpusOrigins> {
    return readOrigins(this.store, { caller, corpus }, this.#assembled.origins);
  }

  /** Accepts that text of the corpus is sent to the addresses configured in this process. */
  acceptOrigins(corpus: string): Promise<CorpusOrigins> {
    const { engine, origins } = this.#assembled;
    return engine.commands.acceptOrigins({ caller, corpus }, origins);
  }

  /** Estimates the cost of an ingestion. Nothing is paid or stored. */
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

  /** Documents of a corpus in pages; `after` is the last id of the previous page. */
  async documents(
    corpus: string,
    page: { after?: string; limit?: number; partlyRead?: boolean } = {},
  ): Promise<ListedDocument[]> {
    const { after = '', limit = limits.request.pageItemsMax, partlyRead } = page;
    const place = await this.#own.place(corpus);
    return listDocuments(this.store, { ...place, after, limit, partlyRead });
  }

  /** Entities of a corpus, most mentions first. */
  async entities(
    corpus: string,
    filter: { kind?: string; limit?: number } = {},
  ): Promise<EntityRow[]> {
    const { kind, limit = limits.request.pageItemsDefault } = filter;
    return listEntities(this.store, { ...(await this.#own.place(corpus)), kind, limit });
  }

  /** Entities of one document, with their positions in its text. */
  async documentEntities(
    id: string,
    filter: { kind?: string; limit?: number } = {},
  ): Promise<DocumentEntity[]> {
    const { kind, limit = limits.request.pageItemsMax } = filter;
    const row = await this.#own.document(id, 'read');
    return entitiesOfGeneration(this.store, row.generation_id, { kind, limit });
  }

  /** Entities that share passages with an entity. */
  async related(
    corpus: string,
    name: string,
    filter: { limit?: number } = {},
  ): Promise<RelatedRow[]> {
    const { limit = limits.request.pageItemsDefault } = filter;
    return listRelated(this.store, { ...(await this.#own.place(corpus)), name, limit });
  }

  /** The live worker processes of this store. */
  async workers(): Promise<WorkerRow[]> {
    const workers = await listWorkers(this.store);
    const liveness = thisProcess();
    return workers.filter((worker) => !whyDead(worker, liveness, this.store.now()));
  }

  /** Whether any process works on this store now. */
  async isWorkedOn(): Promise<boolean> {
    return (await this.workers()).length > 0;
  }

  async deleteDocument(id: string): Promise<void> {
    const row = await this.#own.document(id, 'write');
    return this.#assembled.engine.commands.deleteDocument(row.caller, id);
  }

  /** Deletes a corpus with its documents. Returns the number of deleted documents. */
  async deleteCorpus(name: string): Promise<number> {
    return this.#own.delete(name);
  }

  /** The callers that a corpus is shared with. */
  shares(name: string): Promise<ShareRow[]> {
    return this.#own.shares(name);
  }

  /** Lets another caller (by id or name) read a corpus, or read and write it. */
  share(name: string, guest: string, access: ShareAccess = 'read'): Promise<void> {
    return this.#own.share(name, guest, access);
  }

  /** Returns false if the corpus was not shared with this caller. */
  unshare(name: string, guest: string): Promise<boolean> {
    return this.#own.unshare(name, guest);
  }

  /** The callers of this store, with their keys and moves. */
  get callers(): CallerClient {
    return callersOf(this.#assembled);
  }

  async causes(corpus?: string): Promise<CauseRow[]> {
    return listCauses(this.store, { caller, corpus: await this.#own.fullName(corpus) });
  }

  /** Failed items in pages; `after` is the last id of the previous page. */
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

  /** The job of an item. */
  async jobOf(item: ItemRow): Promise<Job> {
    const row = await getJobById(this.store, item.job_id);
    if (row) return this.#jobOf(row);
    throw new Failure('job_unknown', `there is no job of item ${item.id}`);
  }

  /** Accepts a batch task. When this resolves, it is on disk; it is sent to the provider later. */
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

  /** A batch task by its id, or by a unique prefix of it. */
  async batchTask(id: string): Promise<BatchTaskRow> {
    const [row, other] = await findBatchTasks(this.store, caller, id);
    if (row && !other) return row;
    const message = other ? `more than one batch task begins with ${id}` : undefined;
    throw new Failure('batch_task_unknown', message ?? `there is no batch task ${id}`);
  }

  /** Why a batch task waits longer than usual; null if it does not. */
  async batchTaskWaiting(row: BatchTaskRow): Promise<string | null> {
    return (await readWaiting(this.store))(row);
  }

  /** The merged results of a batch task, as JSON bytes in parts. */
  async batchOutput(id: string): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]> {
    return outputOf(await this.batchTask(id), this.#assembled.blobs);
  }

  /** Cancels a batch task here immediately, and at its provider as soon as it is reachable. */
  cancelBatchTask(id: string): Promise<void> {
    return this.#assembled.batch.commands.cancel(caller, id);
  }

  retryItems(ids: readonly number[]): Promise<number> {
    return this.#assembled.engine.commands.retryItems(caller, ids);
  }

  discardItems(ids: readonly number[]): Promise<number> {
    return this.#assembled.engine.commands.discardItems(caller, ids);
  }

  /** Returns unfinished items to the queue, so that the next process resumes them immediately. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const { engine, attempt } = this.#assembled;
    await attempt.close();
    // A failed start was reported by `work()`. What it did start must still be stopped.
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
