/**
 * The port to whoever takes work for hours. An adapter turns our words into a provider's and back;
 * when to ask, what to believe and what to do about it is decided by the reconciler alone.
 */
import type { Saying } from '../../kernel/batch-decision.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';

/** One question of a completion task, or one text of an embedding task. */
export interface BatchRequest {
  /** Unique in its task, and what its result is known by. */
  readonly custom_id: string;
  readonly input: string;
  readonly instruction?: string | undefined;
  readonly schema_name?: string | undefined;
  readonly schema?: JsonObject | undefined;
}

/** A job that is to be begun. */
export interface NewBatchJob {
  readonly taskType: string;
  /** Ours, and the same in every attempt: by it a job is found again. */
  readonly token: string;
  readonly model: string | undefined;
  readonly language: string | undefined;
  /** What is to be transcribed. */
  readonly sources: readonly string[];
  /** What is to be answered. */
  readonly requests: () => AsyncIterable<BatchRequest>;
}

export interface SubmitContext {
  readonly signal: AbortSignal;
  /** When the intent was written: a job of ours cannot be older. */
  readonly intendedAt: number;
  /** What earlier attempts have noted. */
  readonly notes: Readonly<Record<string, string>>;
  /** Writes a note that the next attempt will find, whatever becomes of this one. */
  note(name: string, value: string): Promise<void>;
}

/** A job that was begun. */
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
      /** The same may go well when it is sent again. */
      readonly isRetryable: boolean;
    }
  /** Something in a result that belongs to nobody. `isEnd`: the rest was not read because of it. */
  | { readonly id: undefined; readonly odd: string; readonly isEnd?: boolean };

export interface PollAnswer {
  readonly said: Saying;
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Read once, and only if the job has ended. */
  readonly results?: (() => AsyncIterable<ResultLine>) | undefined;
}

/** What an hour of sound costs, in cents: in a batch, and at once. */
export interface HourPrice {
  readonly batch: number;
  readonly normal: number;
}

export interface BatchProvider {
  /** As it stands in `provider_state`. */
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** What gets a job of its own: the whole task, each source, each model, or each pair of them. */
  readonly split: 'together' | 'source' | 'model' | 'source_and_model';
  /** How many models a task with sources may name; any number where absent. */
  readonly modelsMax?: number | undefined;
  /** A flat list of results, or one list for each model. */
  readonly merge: 'flat' | 'by_model';
  /** Which models are its own, where a task does not name the provider. */
  readonly models?: RegExp | undefined;
  /** Where texts are sent: `https://api.openai.com/v1`. Absent: only the adapter knows. */
  readonly url?: string | undefined;
  /** Where it transcribes, and what it costs is known. */
  readonly hourPrice?: HourPrice | undefined;
  /** Why it cannot take this source, or undefined. */
  refuses?(source: string): string | undefined;
  /**
   * How a job is known again after a crash between the provider's answer and our commit:
   * `token`: the provider takes a name of ours and refuses it a second time; `list`: its list of
   * jobs says which are ours; `note`: the job is noted before it is begun; `none`: it cannot be
   * known, and such a crash begins it a second time.
   */
  readonly recognizedBy: 'token' | 'list' | 'note' | 'none';
  /** Asks for something that costs nothing; says what. Absent: there is nothing of the kind. */
  check?(signal: AbortSignal): Promise<string>;
  /** The job of an earlier attempt, if it was begun. */
  find(job: NewBatchJob, context: SubmitContext): Promise<string | undefined>;
  /** Begins the job, and returns the provider's id of it. */
  submit(job: NewBatchJob, context: SubmitContext): Promise<string>;
  poll(job: BatchJobRef, signal: AbortSignal): Promise<PollAnswer>;
  /** False: it has no way to end a job. */
  cancel(job: BatchJobRef, signal: AbortSignal): Promise<boolean>;
}
