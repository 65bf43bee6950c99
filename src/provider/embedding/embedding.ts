/**
 * Text to vectors. Some embedders run locally and cost nothing. Those with a `meter` cost money, or
 * so much time that nothing should be computed twice: their responses are first passed to `keep`;
 * once that has stored them, no crash can make them be paid again.
 */
import type { Origin } from '../../kernel/name/origin.ts';
import type { Pace } from '../rate-limit.ts';

export interface Embeddings {
  /** In the format of `vector-bytes.ts`. */
  readonly vectors: readonly Uint8Array[];
  /** The tokens that this call paid for; none for texts shared with a call in flight. */
  readonly tokensIn: number;
  readonly costCents: number;
}

/** One text of a call, with its paid vector. */
export interface PaidVector {
  readonly text: string;
  readonly vector: Uint8Array;
  readonly tokens: number;
}

/**
 * Called with the paid responses as they arrive, even if the caller no longer waits. The response
 * is returned only when this resolves.
 */
export type Keep = (paid: readonly PaidVector[]) => Promise<void>;

export interface Meter {
  /** Undefined if the price is unknown. */
  readonly centsPerMillionTokens: number | undefined;
}

/** How much each list counts in hybrid search; the weights of one search add up to 1. */
export interface HybridWeights {
  readonly keyword: number;
  readonly vector: number;
  /** The terms of the first hits. */
  readonly feedback: number;
}

export interface Embedder {
  /** The model with its parameters: vectors with the same `model` can be compared. */
  readonly model: string;
  readonly meter?: Meter | undefined;
  /** Where texts are sent; undefined if they stay in this process. */
  readonly origin?: Origin | undefined;
  /** What is left of the rate limit in this minute, if there is one. */
  readonly pace?: (() => Pace) | undefined;
  /** Whether the model has the word in its vocabulary; absent if that cannot be known. */
  knows?(word: string): Promise<boolean>;
  /** The cosine of unrelated texts, if it is known. */
  readonly unrelatedCosine?: number | undefined;
  /** The weights of the lists in hybrid search; those of the built-in model if absent. */
  readonly hybridWeights?: HybridWeights | undefined;
  /** The vectors of documents. */
  embed(texts: readonly string[], signal: AbortSignal, keep?: Keep): Promise<Embeddings>;
  /** The vector of a query, for models that distinguish; like a document, if absent. */
  embedQuery?: ((text: string, signal: AbortSignal) => Promise<Embeddings>) | undefined;
  /** Waits briefly for responses in flight, so that they are stored, then gives up. */
  close?(): Promise<void>;
}

/** Estimates the tokens of a text without a tokenizer, rather too many than too few. */
export function guessTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3) + 1;
}

export function embedQuery(
  embedder: Embedder,
  query: string,
  signal: AbortSignal,
): Promise<Embeddings> {
  return embedder.embedQuery?.(query, signal) ?? embedder.embed([query], signal);
}
