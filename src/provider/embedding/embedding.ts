/**
 * Text to vectors. Some embedders run here and cost nothing; those with a `meter` cost money, or so
 * much time that nothing should be computed twice. What these answer is handed to `keep` first:
 * once it is kept, no crash can make it be paid for again.
 */
import type { Origin } from '../../kernel/name/origin.ts';
import type { Pace } from '../rate-limit.ts';

export interface Embeddings {
  /** As `vector-bytes.ts` writes them. */
  readonly vectors: readonly Uint8Array[];
  /** What this call paid for; nothing for what it shared with a call that was under way. */
  readonly tokensIn: number;
  readonly costCents: number;
}

/** One text of a call, answered and paid for. */
export interface PaidVector {
  readonly text: string;
  readonly vector: Uint8Array;
  readonly tokens: number;
}

/**
 * Called with what the call has paid for, as soon as it is there, and even if its caller no longer
 * waits. Only when this resolves is the answer handed on.
 */
export type Keep = (paid: readonly PaidVector[]) => Promise<void>;

export interface Meter {
  /** Undefined where nobody has told us the price. */
  readonly centsPerMillionTokens: number | undefined;
}

export interface Embedder {
  /** The model with its parameters: vectors of two embedders with the same one can be compared. */
  readonly model: string;
  readonly meter?: Meter | undefined;
  /** Where texts are sent; undefined: they stay in this process. */
  readonly origin?: Origin | undefined;
  /** What it may still be asked for in this minute, where there is a bound. */
  readonly pace?: (() => Pace) | undefined;
  embed(texts: readonly string[], signal: AbortSignal, keep?: Keep): Promise<Embeddings>;
  /** Waits a little for answers that are under way, so that they are kept, and then gives up. */
  close?(): Promise<void>;
}

/** About as many tokens as a text has, without a tokenizer; rather too many than too few. */
export function guessTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3) + 1;
}
