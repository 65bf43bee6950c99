/** Text to vectors. */
export interface Embeddings {
  readonly vectors: readonly Uint8Array[];
  readonly tokensIn: number;
  readonly costCents: number;
}

export interface Embedder {
  readonly model: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings>;
}
