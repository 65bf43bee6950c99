/**
 * What the library returns: the objects of the contract under camelCase names. Times are ISO 8601
 * strings in UTC, as in the HTTP API.
 */
import type { AnswerOf } from '../contract/contract.ts';
import type * as batch from '../contract/operation/batch.ts';
import type * as schema from '../contract/schema/schema.ts';
import type * as source from '../contract/schema/source.ts';
import type { Camelize } from './call/camel.ts';

type EntryOf<Answer> = Answer extends { items: readonly (infer Entry)[] } ? Entry : never;

/** A job in a list. */
export type JobSummary = Camelize<schema.Job>;
/** A job with its causes of failure and its steps. */
export type JobDetail = Camelize<schema.JobDetail>;
export type CancelReceipt = Camelize<AnswerOf<'POST /jobs/:id/cancel'>>;
/** A document of a job, with its state and an explanation of it. */
export type Item = Camelize<schema.Item>;
/** `jobId` is the id of the job. The keys of `detail` depend on the kind. */
export type Event = Camelize<schema.Event>;
/** Failed documents with the same cause. */
export type Cause = Camelize<schema.Cause>;
export type Corpus = Camelize<schema.Corpus>;
/** A corpus with its model, its shares and its cost. */
export type CorpusDetail = Camelize<schema.CorpusDetail>;
export type CorpusOrigins = Camelize<AnswerOf<'GET /corpora/:name/origins'>>;
/** A caller that a corpus is shared with. */
export type Share = Camelize<schema.Share>;
export type Document = Camelize<schema.Document>;
export type Chunk = Camelize<schema.Chunk>;
export type Entity = Camelize<EntryOf<AnswerOf<'GET /corpora/:name/entities'>>>;
export type RelatedEntity = Camelize<EntryOf<AnswerOf<'GET /corpora/:name/entities/:entity'>>>;
export type DocumentEntity = Camelize<EntryOf<AnswerOf<'GET /documents/:id/entities'>>>;
/** A passage that a search found. */
export type Hit = Camelize<schema.Hit>;
/** Why a passage has its rank. */
export type Explanation = NonNullable<Hit['explanation']>;
/** The whole response of a search. */
export type SearchResponse = Camelize<AnswerOf<'POST /search'>>;
/** An answer to a question, with its passages and citations. */
export type Answer = Camelize<schema.Answer>;
export type AnswerSentence = Answer['sentences'][number];
/** Why a document is in the results, or is not. */
export type Why = Camelize<schema.Why>;
export type BatchTask = Camelize<batch.BatchTask>;
/** A place that a corpus follows, with its last run. */
export type SyncSource = Camelize<source.SyncSource>;
/** A comparison of a source with its corpus: what it found, and what it has applied. */
export type SyncRun = Camelize<source.SyncRun>;
/** A change that a run found, with its evidence. */
export type SyncChange = Camelize<source.SyncChange>;
/** A document that a run removed, and that can be brought back. */
export type RemovedDocument = Camelize<source.RemovedDocument>;
export type SyncWebhook = Camelize<AnswerOf<'POST /sources/:name/webhook'>>;
