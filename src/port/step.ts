/**
 * Steps that a user adds, replaces or wraps. An added step is committed like any other: it runs
 * again after a crash, its failures are retried by their code, and documents wait for it before
 * they become current.
 */
import type { EntityKind } from '../pipeline/entity/extraction.ts';
import type { FoundEntity } from './entity-extractor.ts';

export type { EntityKind };

/** The document that a step works on. */
export interface StepDocument {
  readonly id: string;
  readonly source: string;
  readonly corpus: string;
  /** The number of the generation that this run makes; unique in the store. */
  readonly generation: number;
  /** From 1; higher after failures. */
  readonly attempt: number;
}

/** A document whose text has been read. */
export interface ReadDocument extends StepDocument {
  readonly title: string | null;
  readonly language: string | null;
  /** Markdown. */
  readonly text: string;
}

/** The fetched bytes of a document. */
export interface StepSource extends StepDocument {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export interface StepCall {
  /** Aborts when the step times out, or when its document is canceled, paused or taken over. */
  readonly signal: AbortSignal;
  /** Shows the progress of a long step. */
  progress(done: number, total: number): void;
}

export interface StepOutcome {
  /** Stored in the history of the document, as JSON. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Runs inside the commit of the step: if it throws, nothing is committed. Keep it short. A crash
   * in the commit runs it again, so it must be idempotent.
   */
  readonly effect?: (() => Promise<void>) | undefined;
  /** Shown as cost and usage of the step. */
  readonly model?: string | undefined;
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  readonly costCents?: number | undefined;
}

interface StepTerms {
  /** Recorded in the history of each document that passes the step. */
  readonly version: string;
  /** The step fails with `timeout_hard` after this time; Pawl's limits of the stage if absent. */
  readonly timeoutMs?: number | undefined;
}

export interface AddedStep extends StepTerms {
  readonly add: string;
  readonly replace?: undefined;
  readonly wrap?: undefined;
  /**
   * Its position in the stored set of steps: from 16 to 30, and different for every step that you
   * have ever added to this store.
   */
  readonly bit: number;
  /** It runs when these are done; after `content_extracted` if absent. */
  readonly after?: readonly string[] | undefined;
  /** These wait for it; `persisted` if absent. */
  readonly before?: readonly string[] | undefined;
  run(document: ReadDocument, call: StepCall): Promise<StepOutcome | undefined>;
}

export interface ReadText {
  /** Markdown: headings become heading paths of the chunks. */
  readonly text: string;
  readonly title?: string | null | undefined;
  /** BCP 47. */
  readonly language?: string | null | undefined;
}

export interface ReplacedReading extends StepTerms {
  readonly replace: 'content_extracted';
  readonly add?: undefined;
  readonly wrap?: undefined;
  /** `call.parse` is what Pawl would read: to change its text, or for the formats it knows. */
  run(source: StepSource, call: StepCall & { parse(): Promise<ReadText> }): Promise<ReadText>;
}

export interface ReplacedEntities extends StepTerms {
  readonly replace: 'entity_extracted';
  readonly add?: undefined;
  readonly wrap?: undefined;
  run(document: ReadDocument, call: StepCall): Promise<readonly FoundEntity[]>;
}

export interface WrappedStep extends StepTerms {
  readonly wrap: string;
  readonly add?: undefined;
  readonly replace?: undefined;
  /** Calls `next` once: it runs the step. What `run` throws fails the step. */
  run(document: StepDocument, call: StepCall, next: () => Promise<void>): Promise<void>;
}

export type StepPort = AddedStep | ReplacedReading | ReplacedEntities | WrappedStep;
