/**
 * The port to batch providers, whose work takes hours. An adapter translates between our terms and
 * the provider's; only the reconciler decides when to poll, what to accept and how to react.
 */
import type { Saying } from '../../kernel/batch-decision.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';

/** One request of a completion task, or one text of an embedding task. */
export interface BatchRequest {
  /** Unique in its task; identifies the result. */
  readonly custom_id: string;
  readonly input: string;
  readonly instruction?: string | undefined;
  readonly schema_name?: string | undefined;
  readonly schema?: JsonObject | undefined;
}

/** A job to be submitted. */
export interface NewBatchJob {
  readonly taskType: string;
  /** Our token, the same in every try: it identifies the job at the provider. */
  readonly token: string;
  readonly model: string | undefined;
  readonly language: string | undefined;
  /** The recordings to transcribe. */
  readonly sources: readonly string[];
  /** The requests to answer. */
  readonly requests: () => AsyncIterable<BatchRequest>;
}

export interface SubmitContext {
  readonly signal: AbortSignal;
  /** When the intent was stored: a job of ours cannot be older. */
  readonly intendedAt: number;
  /** The notes of earlier tries. */
  readonly notes: Readonly<Record<string, string>>;
  /** Stores a note that the next try will find, regardless of the outcome of this one. */
  note(name: string, value: string): Promise<void>;
}

/** A submitted job. */
export interface BatchJobRef {
  readonly taskType: string;
  readonly externalId: string;
  readonly token: string;
  readonly model: string | undefined;
  readonly sources: readonly string[];
}

export type ResultLine =
  | {
      /** The source, or the `custom_id`. */
      readonly id: string;
      readonly isOk: true;
      readonly value: JsonObject;
      readonly tokensIn?: number;
      readonly tokensOut?: number;
    }
  | {
      readonly id: string;
      readonly isOk: false;
      readonly error: string;
      /** Whether the same request may succeed when it is sent again. */
      readonly isRetryable: boolean;
    }
  /** A result line that matches no request. `isEnd`: the rest was not read because of it. */
  | { readonly id: undefined; readonly odd: string; readonly isEnd?: boolean };

export interface PollAnswer {
  readonly said: Saying;
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Read once, and only if the job has ended. */
  readonly results?: (() => AsyncIterable<ResultLine>) | undefined;
}

/** The price of an hour of audio, in cents: in a batch, and live. */
export interface HourPrice {
  readonly batch: number;
  readonly normal: number;
}

export interface BatchProvider {
  /** As in `provider_state`. */
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** What gets its own job: the whole task, each source, each model, or each pair of them. */
  readonly split: 'together' | 'source' | 'model' | 'source_and_model';
  /** How many models a task with sources may name; unlimited if absent. */
  readonly modelsMax?: number | undefined;
  /** A flat list of results, or one list per model. */
  readonly merge: 'flat' | 'by_model';
  /** Which models belong to it, if a task does not name the provider. */
  readonly models?: RegExp | undefined;
  /** Where texts are sent: `https://api.openai.com/v1`. Absent if only the adapter knows. */
  readonly url?: string | undefined;
  /** The price, if it transcribes and the price is known. */
  readonly hourPrice?: HourPrice | undefined;
  /** Why it cannot take this source, or undefined. */
  refuses?(source: string): string | undefined;
  /**
   * How a job is recognized after a crash between the provider's response and our commit: `token`:
   * the provider takes our name and refuses it a second time; `list`: its list of jobs shows which
   * are ours; `note`: the job is noted before it starts; `none`: it cannot be recognized, and such
   * a crash starts it a second time.
   */
  readonly recognizedBy: 'token' | 'list' | 'note' | 'none';
  /** Makes a free request and describes it. Absent if there is none. */
  check?(signal: AbortSignal): Promise<string>;
  /** The job of an earlier try, if it was submitted. */
  find(job: NewBatchJob, context: SubmitContext): Promise<string | undefined>;
  /** Submits the job, and returns the provider's id of it. */
  submit(job: NewBatchJob, context: SubmitContext): Promise<string>;
  poll(job: BatchJobRef, signal: AbortSignal): Promise<PollAnswer>;
  /** False if it has no way to cancel a job. */
  cancel(job: BatchJobRef, signal: AbortSignal): Promise<boolean>;
}
