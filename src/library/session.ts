/**
 * An open store from the inside. The public object is a view of it; the CLI, the service and the
 * tests of this repository reach it through `internal.ts`.
 */
import { localCaller } from '../access/caller.ts';
import type { Assembled } from '../app/wire.ts';
import { checkPriced } from '../engine/command/admission.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import { whyDead } from '../engine/item/rescuer.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { Estimate } from '../pipeline/estimate/estimate.ts';
import { withMetadata } from '../source/sidecar.ts';
import { type CrawlInput, crawlFrom } from '../source/sources.ts';
import { newestSequence } from '../store/delivery/events.ts';
import { findJobs } from '../store/item/inbox.ts';
import { listWorkers, type WorkerRow } from '../store/item/workers.ts';
import { getJob, type JobRow } from '../store/job/jobs.ts';
import type { NewSource } from '../store/job/submit.ts';
import { ContractCalls } from './call/contract-calls.ts';
import { Lifetime } from './call/lifetime.ts';
import { EventLog } from './event-log.ts';
import { findUnfinished } from './find-resumable-job.ts';
import { type Ask, type LocalAsk, localAsk } from './local-ask.ts';
import { type LocalBatch, localBatch } from './local-batch.ts';
import type { IngestOptions } from './options.ts';

/** Access to the store's folder grants access to everything in it: there is one caller. */
const { callerId: caller } = localCaller;

export interface SubmittedJob {
  readonly row: JobRow;
  readonly isResumed: boolean;
}

export class Session {
  readonly #assembled: Assembled;
  readonly lifetime = new Lifetime();
  /** Calls a route of the HTTP API in this process: the same requests and responses. */
  readonly ask: Ask;
  /** An answer of `POST /ask` as it is written. */
  readonly answer: LocalAsk['answer'];
  readonly calls: ContractCalls;
  readonly events: EventLog;
  readonly batch: LocalBatch;
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(assembled: Assembled) {
    const { database, engine, world, onError } = assembled;
    const { lifetime } = this;
    const { relay } = engine;
    this.#assembled = assembled;
    const { ask, answer } = localAsk(assembled);
    this.ask = ask;
    this.answer = answer;
    this.calls = new ContractCalls(this.ask, lifetime);
    this.events = new EventLog({ database, relay, world, lifetime, caller, onError });
    this.batch = localBatch(assembled);
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

  /** Accepts sources as one job, or finds the unfinished job that they would repeat. */
  async submit(given: readonly NewSource[], options: IngestOptions): Promise<SubmittedJob> {
    const { corpus: name, crawl: input, resume = false, metadata, ...more } = options;
    const sources = withMetadata(given, metadata);
    const { followLinks: _, onSkipped: __, signal: ___, ...chosen } = more;
    const { force = false, budgetCents } = chosen;
    if (budgetCents !== undefined) checkPriced(this.#assembled);
    const crawl = input && crawlFrom(sources, input);
    const { name: corpus } = await this.#assembled.corpora.target(caller, name);
    const wanted = { caller, corpus, sources, isCrawl: crawl !== undefined, force };
    const same = resume ? await findUnfinished(this.store, wanted) : undefined;
    if (same) return { row: same, isResumed: true };
    const { commands } = this.#assembled.engine;
    const { jobKey } = await commands.submit({ caller, corpus, sources, crawl, ...chosen });
    const row = await getJob(this.store, jobKey);
    if (!row) throw new Failure('job_unknown', `there is no job ${jobKey}`);
    return { row, isResumed: false };
  }

  /** A job by its id, or by a unique prefix of it. */
  async findJob(id: string): Promise<JobRow> {
    const [row, other] = await findJobs(this.store, caller, id);
    if (row && (!other || row.key === id)) return row;
    if (other) throw new Failure('job_unknown', `more than one job begins with ${id}`);
    throw new Failure('job_unknown', `there is no job ${id}`);
  }

  /** Estimates the cost of an ingestion. Nothing is paid or stored. */
  async estimate(
    sources: readonly NewSource[],
    { corpus: name, crawl }: { readonly corpus: string; readonly crawl?: CrawlInput | undefined },
  ): Promise<Estimate> {
    const { name: corpus } = await this.#assembled.corpora.target(caller, name);
    const crawlPagesMax = crawl && crawlFrom(sources, crawl).pagesMax;
    return this.#assembled.estimate({ caller, corpus, sources, crawlPagesMax });
  }

  /** The number of the newest event. */
  newestEvent(): Promise<number> {
    return newestSequence(this.store);
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

  /**
   * Returns unfinished items to the queue, so that the next process resumes them immediately. Every
   * event that this process committed has been published when it resolves.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Stops, and closes the store. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.stop();
    await this.#assembled.close();
  }

  async #stop(): Promise<void> {
    await this.lifetime.end();
    const { engine, attempt } = this.#assembled;
    await attempt.close();
    // A failed start was reported by `work()`. What it did start must still be stopped.
    await this.#started?.catch(() => undefined);
    await this.#assembled.batch.stop();
    if (this.#started) await engine.stop();
    else await engine.relay.close();
  }
}
