/** The options of the library. */

import type { PawlOptions } from '../app/options.ts';
import type { BodyOf, QueryOf, RouteName } from '../contract/contract.ts';
import type * as batch from '../contract/operation/batch.ts';
import type { NewJob } from '../contract/schema/schema.ts';
import type { CrawlInput } from '../source/sources.ts';
import type { Camelize } from './call/camel.ts';

export interface SignalOptions {
  /**
   * Rejects the call with the reason of the signal. A change that has begun is still committed as
   * a whole.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface OpenOptions extends PawlOptions {
  /** False: this process only reads and submits, and other processes do the work. */
  readonly work?: boolean | undefined;
}

/** Fields of a job that sources and arguments of `ingest` replace. */
type ReplacedByIngest = 'url' | 'urls' | 'documents' | 'crawl' | 'corpusName' | 'webhookUrl';

export interface IngestOptions extends Omit<Camelize<NewJob>, ReplacedByIngest>, SignalOptions {
  readonly corpus: string;
  /** Crawls from these addresses, and follows links within the site. */
  readonly crawl?: CrawlInput | undefined;
  /** Follows symbolic links that lead out of a folder. */
  readonly followLinks?: boolean | undefined;
  /** Called for each skipped entry of a folder, with the reason. */
  readonly onSkipped?: ((source: string, reason: string) => void) | undefined;
  /** Resumes an unfinished job of the same files, if there is one, instead of adding another. */
  readonly resume?: boolean | undefined;
}

export interface EstimateOptions extends SignalOptions {
  readonly corpus: string;
  readonly crawl?: CrawlInput | undefined;
}

export interface PreviewOptions extends Pick<PawlOptions, 'allowHosts' | 'browser' | 'render'> {}

export interface ExtractOptions
  extends SignalOptions,
    Pick<IngestOptions, 'followLinks' | 'onSkipped'> {
  /** Adds what was not kept, with the reason. */
  readonly dropped?: boolean | undefined;
}

/** The corpus and the query are arguments of `search`. */
type SearchBody = Omit<Camelize<BodyOf<'POST /search'>>, 'corpusName' | 'query'>;
export interface SearchOptions extends SearchBody, SignalOptions {}
/** The corpus and the question are arguments of `ask`. */
type QuestionBody = Omit<Camelize<BodyOf<'POST /ask'>>, 'corpusName' | 'question' | 'stream'>;
export interface AskOptions extends QuestionBody, SignalOptions {}
export type SearchFilter = NonNullable<SearchOptions['filter']>;
export type SearchMode = NonNullable<SearchOptions['mode']>;

/** The filter of a list, without the parts that the list takes care of. */
type Filter<Name extends RouteName> = Omit<
  Camelize<QueryOf<Name>>,
  'corpusName' | 'cursor' | 'limit'
>;

export interface ListOptions extends SignalOptions {
  /** The most entries that an iteration yields; all if absent. */
  readonly limit?: number | undefined;
}

export interface JobFilter extends Filter<'GET /jobs'>, ListOptions {
  readonly corpus?: string | undefined;
}

export interface InboxFilter extends Filter<'GET /inbox'>, ListOptions {
  readonly corpus?: string | undefined;
}

export interface DocumentFilter extends Filter<'GET /corpora/:name/documents'>, ListOptions {}
export interface EntityFilter extends Filter<'GET /corpora/:name/entities'>, ListOptions {}
export interface BatchTaskFilter extends Filter<'GET /batch/tasks'>, ListOptions {}
export type NewBatchTask = Camelize<batch.NewBatchTask>;

export interface EventOptions extends SignalOptions {
  /** Only events after this number: the `seq` of the last event seen. */
  readonly after?: number | undefined;
}

/** Failed documents: by their ids, by a cause, or all of them; optionally of one corpus. */
export type Chosen = (
  | { readonly itemIds: readonly number[] }
  | { readonly cause: string }
  | { readonly all: true }
) & { readonly corpus?: string | undefined };

export interface NewSource extends Omit<Camelize<BodyOf<'POST /sources'>>, 'corpusName'> {
  readonly corpus: string;
}

export interface SourceChanges extends Camelize<BodyOf<'PATCH /sources/:name'>>, SignalOptions {}

export interface ChangeFilter extends Filter<'GET /sources/:name/runs/:run/changes'>, ListOptions {}
