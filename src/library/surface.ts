/** The objects that the library hands out. Their implementations are beside this file. */
import type { Failure } from '../kernel/failure/failure.ts';
import type { Estimate } from '../pipeline/estimate/estimate.ts';
import type { SourceInput } from '../source/sources.ts';
import type {
  AskOptions,
  BatchTaskFilter,
  ChangeFilter,
  Chosen,
  DocumentFilter,
  EntityFilter,
  EstimateOptions,
  EventOptions,
  ExtractOptions,
  InboxFilter,
  IngestOptions,
  JobFilter,
  ListOptions,
  NewBatchTask,
  NewSource,
  SearchOptions,
  SignalOptions,
  SourceChanges,
} from './options.ts';
import type {
  Answer,
  AnswerSentence,
  BatchTask,
  CancelReceipt,
  Cause,
  Chunk,
  Corpus,
  CorpusDetail,
  CorpusOrigins,
  Document,
  DocumentEntity,
  Entity,
  Event,
  Hit,
  Item,
  JobDetail,
  JobSummary,
  RelatedEntity,
  RemovedDocument,
  SearchResponse,
  Share,
  SyncChange,
  SyncRun,
  SyncSource,
  SyncWebhook,
  Why,
} from './views.ts';

export interface Page<Entry> {
  readonly items: readonly Entry[];
  /** The start of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

export interface PageOptions extends SignalOptions {
  /** The size of the page. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A list of the store. Nothing is read before it is iterated. */
export interface List<Entry> extends AsyncIterable<Entry> {
  /** One page: the first, or the one that a cursor names. */
  page(options?: PageOptions): Promise<Page<Entry>>;
  /** All entries in memory. */
  all(): Promise<Entry[]>;
}

/** A job of the store. It needs no disposal: the job outlives the process. */
export interface Job {
  readonly id: string;
  readonly corpus: string;
  /** True if `ingest` resumed an unfinished job of the same documents. */
  readonly isResumed: boolean;
  /** Past and future events, without gaps or duplicates, until the job ends or Pawl is closed. */
  events(options?: EventOptions): AsyncGenerator<Event, void, undefined>;
  /** The stored events, without waiting for more. */
  history(options?: EventOptions & ListOptions): List<Event>;
  summary(options?: SignalOptions): Promise<JobDetail>;
  /** The summary when the job has ended. Rejects with `pawl_closed` if Pawl is closed before. */
  wait(options?: SignalOptions): Promise<JobDetail>;
  items(options?: ListOptions): List<Item>;
  /** Stops open documents. What is done stays searchable. */
  cancel(options?: SignalOptions): Promise<CancelReceipt>;
  pause(options?: SignalOptions): Promise<void>;
  /** A budget given here replaces the total budget of the job. */
  resume(options?: SignalOptions & { readonly budgetCents?: number | undefined }): Promise<void>;
  /** Retries failed and canceled items, each from its last committed step. Returns how many. */
  retry(options?: SignalOptions): Promise<number>;
}

interface Ingesting {
  /** Accepts the sources as one job. When this resolves, the job is on disk. */
  ingest(sources: readonly SourceInput[], options: IngestOptions): Promise<Job>;
  /** Estimates the cost of an ingestion. Nothing is paid or stored. */
  estimate(sources: readonly SourceInput[], options: EstimateOptions): Promise<Estimate>;
  /** A job by its id, or by a unique prefix of it. */
  job(id: string, options?: SignalOptions): Promise<Job>;
  /** Jobs, newest first. */
  jobs(filter?: JobFilter): List<JobSummary>;
  /** Events of all jobs, without gaps or duplicates, until Pawl is closed; from now by default. */
  events(options?: EventOptions): AsyncGenerator<Event, void, undefined>;
  /** The number of the newest event. */
  newestEvent(options?: SignalOptions): Promise<number>;
}

/** What comes while an answer is written. */
export type AnswerEvent =
  | { readonly kind: 'passages'; readonly passages: Answer['passages'] }
  | { readonly kind: 'sentence'; readonly sentence: AnswerSentence }
  | { readonly kind: 'done'; readonly answer: Answer };

interface Searching {
  /** The best passages of a corpus for a query. */
  search(corpus: string, query: string, options?: SearchOptions): Promise<readonly Hit[]>;
  /** The same, with everything that the response says about the search. */
  searchResponse(corpus: string, query: string, options?: SearchOptions): Promise<SearchResponse>;
  /** An answer to a question, written by the configured model from the passages of a corpus. */
  ask(corpus: string, question: string, options?: AskOptions): Promise<Answer>;
  /**
   * The same while it is written: the passages, each sentence, and the whole answer. A loop that
   * ends early ends the request to the model.
   */
  askStream(
    corpus: string,
    question: string,
    options?: AskOptions,
  ): AsyncGenerator<AnswerEvent, void, undefined>;
  /** Why a document is in the results, or is not; with a query, also its best passage. */
  why(
    corpus: string,
    url: string,
    options?: SignalOptions & { readonly query?: string | undefined },
  ): Promise<Why>;
}

interface Inbox {
  /** Failed documents. */
  inbox(filter?: InboxFilter): List<Item>;
  /** The causes of failed documents, the most frequent first. */
  causes(
    options?: SignalOptions & { readonly corpus?: string | undefined },
  ): Promise<readonly Cause[]>;
  item(id: number, options?: SignalOptions): Promise<Item>;
  /** Retries failed documents, each from its failed step. Returns how many. */
  retryItems(chosen: Chosen, options?: SignalOptions): Promise<number>;
  /** Discards failed documents. Returns how many. */
  discardItems(chosen: Chosen, options?: SignalOptions): Promise<number>;
}

interface Corpora {
  /** Corpora, ordered by name. */
  corpora(options?: ListOptions): List<Corpus>;
  corpus(name: string, options?: SignalOptions): Promise<CorpusDetail>;
  /** Deletes a corpus with its documents. Returns the number of deleted documents. */
  deleteCorpus(name: string, options?: SignalOptions): Promise<number>;
  /** Sets the total budget of a corpus; null removes it. */
  setCorpusBudget(
    name: string,
    budgetCents: number | null,
    options?: SignalOptions,
  ): Promise<CorpusDetail>;
  /**
   * Re-embeds a corpus with the configured model. Searches use the old model until every document
   * has been embedded. Returns undefined if the corpus has no documents.
   */
  reembed(
    name: string,
    options?: SignalOptions & { readonly budgetCents?: number | undefined },
  ): Promise<Job | undefined>;
  /**
   * Sets the size and the overlap of the chunks of a corpus, and splits its documents again from
   * their stored text. An absent value stays as it is; null is the default. Returns undefined if no
   * document has to be split again. The corpus need not exist yet.
   */
  rechunk(
    name: string,
    options?: SignalOptions & {
      readonly chunkTokens?: number | null | undefined;
      readonly chunkOverlapTokens?: number | null | undefined;
      readonly budgetCents?: number | undefined;
    },
  ): Promise<Job | undefined>;
  /** Where text of a corpus is sent, and where this process would send it. */
  origins(name: string, options?: SignalOptions): Promise<CorpusOrigins>;
  /** Accepts that text of the corpus is sent to the addresses configured in this process. */
  acceptOrigins(name: string, options?: SignalOptions): Promise<CorpusOrigins>;
  /** The callers that a corpus is shared with. */
  shares(name: string, options?: SignalOptions): Promise<readonly Share[]>;
  /** Lets another caller (by id or name) read a corpus, or read and write it. */
  share(
    name: string,
    caller: string,
    options?: SignalOptions & { readonly access?: Share['access'] | undefined },
  ): Promise<Share>;
  /** Returns false if the corpus was not shared with this caller. */
  unshare(name: string, caller: string, options?: SignalOptions): Promise<boolean>;
}

interface Documents {
  documents(corpus: string, filter?: DocumentFilter): List<Document>;
  document(id: string, options?: SignalOptions): Promise<Document>;
  deleteDocument(id: string, options?: SignalOptions): Promise<void>;
  /** Deletes up to 1,000 documents of a corpus. Returns how many it had. */
  deleteDocuments(corpus: string, ids: readonly string[], options?: SignalOptions): Promise<number>;
  /** The chunks of a document, in order. */
  chunks(documentId: string, options?: ListOptions): List<Chunk>;
  /** Entities of a corpus, most mentions first. */
  entities(corpus: string, filter?: EntityFilter): List<Entity>;
  /** Entities that share passages with an entity, most passages first. */
  related(corpus: string, entity: string, options?: ListOptions): List<RelatedEntity>;
  /** Entities of one document, with their positions in its text. */
  documentEntities(documentId: string, filter?: EntityFilter): List<DocumentEntity>;
}

interface BatchTasks {
  /** Accepts a batch task. When this resolves, it is on disk; it is sent to the provider later. */
  submitBatchTask(task: NewBatchTask, options?: SignalOptions): Promise<BatchTask>;
  /** Batch tasks, newest first. */
  batchTasks(filter?: BatchTaskFilter): List<BatchTask>;
  /** A batch task by its id, or by a unique prefix of it. */
  batchTask(id: string, options?: SignalOptions): Promise<BatchTask>;
  /** The merged results of a batch task, as JSON bytes in parts. */
  batchOutput(id: string, options?: SignalOptions): Promise<AsyncIterable<Uint8Array>>;
  /** Cancels a batch task here immediately, and at its provider as soon as that is reachable. */
  cancelBatchTask(id: string, options?: SignalOptions): Promise<BatchTask>;
}

interface Sources {
  /**
   * Makes a corpus follow a place. The same place of the same corpus is one source: then its
   * schedule and options change.
   */
  addSource(source: NewSource, options?: SignalOptions): Promise<SyncSource>;
  /** The sources of all corpora, by name. */
  sources(options?: SignalOptions): Promise<readonly SyncSource[]>;
  source(name: string, options?: SignalOptions): Promise<SyncSource>;
  /** Changes the schedule and options. What is not named stays; a schedule of null removes it. */
  updateSource(name: string, changes: SourceChanges): Promise<SyncSource>;
  /** Finds what a run would do, and changes nothing. Resolves when the plan has ended. */
  planSource(name: string, options?: SignalOptions): Promise<SyncRun>;
  /**
   * Compares the source with its corpus. Resolves when the run has ended, or waits for a decision
   * about removals (`held`); its jobs may still be working.
   */
  runSource(name: string, options?: SignalOptions): Promise<SyncRun>;
  pauseSource(name: string, options?: SignalOptions): Promise<SyncSource>;
  resumeSource(name: string, options?: SignalOptions): Promise<SyncSource>;
  /** Stops following the source. Its documents stay. */
  removeSource(name: string, options?: SignalOptions): Promise<void>;
  /** The runs of a source, newest first. */
  sourceRuns(name: string, options?: ListOptions): List<SyncRun>;
  /** What a run found. */
  sourceChanges(name: string, runId: number, filter?: ChangeFilter): List<SyncChange>;
  /** Applies the removals that a held run waits with. Resolves when that has ended. */
  applyRemovals(name: string, options?: SignalOptions): Promise<SyncRun>;
  /** Keeps the documents that a held run would remove. Resolves when that has ended. */
  ignoreRemovals(name: string, options?: SignalOptions): Promise<SyncRun>;
  /** Removed documents that can be brought back, newest first. */
  removedDocuments(
    name: string,
    options?: SignalOptions & { readonly limit?: number | undefined },
  ): Promise<readonly RemovedDocument[]>;
  /** Brings removed documents back: those with these keys, or all. Returns how many. */
  restoreDocuments(
    name: string,
    options?: SignalOptions & { readonly keys?: readonly string[] | undefined },
  ): Promise<number>;
  /** Gives the source an address whose signed messages start a run of a service, and a secret. */
  openSourceWebhook(name: string, options?: SignalOptions): Promise<SyncWebhook>;
  closeSourceWebhook(name: string, options?: SignalOptions): Promise<SyncSource>;
}

/** The text of a source, as it would be indexed. */
export interface Extraction {
  readonly title: string | null;
  readonly language: string | null;
  readonly text: string;
  readonly markdown: string;
  /** What the parser says of the document. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The share of the text that was kept, from 0 to 1; null if it was not measured. */
  readonly keptShare: number | null;
  readonly warnings: readonly string[];
  readonly dropped?: readonly { readonly reason: string; readonly text: string }[];
}

/** A source with its text, or with the reason why it has none. */
export type Previewed =
  | { readonly source: string; readonly document: Extraction; readonly failure?: undefined }
  | { readonly source: string; readonly failure: Failure; readonly document?: undefined };

/** Reads sources as a job would, and stores nothing. */
export interface Preview extends AsyncDisposable {
  /** The sources in order. One that cannot be read has a failure; the others follow. */
  extract(
    sources: readonly SourceInput[],
    options?: ExtractOptions,
  ): AsyncGenerator<Previewed, void, undefined>;
  close(): Promise<void>;
}

/** A store that is open: ingest into its corpora, search them, and follow its jobs. */
export interface Pawl
  extends Ingesting,
    Searching,
    Inbox,
    Corpora,
    Documents,
    BatchTasks,
    Sources,
    AsyncDisposable {
  /** Starts to process the queue, unless this process already does. */
  work(): Promise<void>;
  /**
   * Waits for running calls and returns unfinished items to the queue, so that the next process
   * resumes them immediately. Later calls reject with `pawl_closed`.
   */
  close(): Promise<void>;
}
