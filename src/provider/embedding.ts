/** Text to vectors. */
export interface Embeddings {
  /** As `vector-bytes.ts` writes them. */
  readonly vectors: readonly Uint8Array[];
  readonly tokensIn: number;
  readonly costCents: number;
}

export interface Embedder {
  readonly model: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings>;
}
