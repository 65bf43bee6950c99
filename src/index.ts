/** Pawl as a library: open a store, ingest into a corpus, search it. */

import { optionNames } from './app/options.ts';
import { assemble } from './app/wire.ts';
import { asFailure } from './library/call/lifetime.ts';
import { checkNames } from './library/call/names.ts';
import { pawlOf } from './library/internal.ts';
import type { OpenOptions } from './library/options.ts';
import type { Pawl } from './library/surface.ts';

export type { EmbedderSettings } from './app/adapter/models.ts';
export type {
  FollowedPlace,
  Listed,
  ListedPage,
  ListFrom,
  SourceKind,
} from './engine/sync/source-kind.ts';
export {
  Failure,
  type FailureCode,
  type FailureContext,
  type FailureKind,
  failures,
} from './kernel/failure/failure.ts';
export type { Metadata, MetadataValue } from './kernel/metadata/metadata.ts';
export type { WhereInput } from './kernel/metadata/read-where.ts';
export type * from './library/options.ts';
export { openPreview } from './library/preview.ts';
export type {
  AnswerEvent,
  Extraction,
  Job,
  List,
  Page,
  PageOptions,
  Pawl,
  Preview,
  Previewed,
} from './library/surface.ts';
export type * from './library/views.ts';
export type { EventKind } from './observe/event.ts';
export type { Estimate } from './pipeline/estimate/estimate.ts';
export type { Range as EstimateRange } from './pipeline/estimate/range.ts';
export type { BlobStorePort } from './port/blob-store.ts';
export type { EmbedderPort, PortCall, Vector } from './port/embedder.ts';
export type { EntityExtractorPort, FoundEntity } from './port/entity-extractor.ts';
export type { RerankedPassage, RerankerPort } from './port/reranker.ts';
export type { SinkPort } from './port/sink.ts';
export type {
  AddedStep,
  EntityKind,
  ReadDocument,
  ReadText,
  ReplacedEntities,
  ReplacedReading,
  StepCall,
  StepDocument,
  StepOutcome,
  StepPort,
  StepSource,
  WrappedStep,
} from './port/step.ts';
export type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
  SubmitContext,
} from './provider/batch/batch-provider.ts';
export type {
  CorpusModel,
  DocumentState,
  Generation,
  Near,
  Nearest,
  SinkChunk,
  SinkEntity,
  SinkRelation,
} from './sink/sink.ts';
export type { CrawlInput, InlineDocument, SourceInput } from './source/sources.ts';

/** Opens a store, creates it if it is missing, and resumes its unfinished work. */
export async function open(options: OpenOptions = {}): Promise<Pawl> {
  checkNames('open', options, [...Object.keys(optionNames), 'work']);
  const pawl = pawlOf(await asFailure(assemble(options)));
  if (options.work ?? true) {
    await pawl.work().catch(async (error: unknown) => {
      await pawl.close();
      throw error;
    });
  }
  return pawl;
}
