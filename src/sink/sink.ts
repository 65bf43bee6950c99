/**
 * Sinks hold copies of generations outside the store, for external readers and for Pawl's search.
 * Only the store decides what is current. A generation is written next to the existing ones before
 * it becomes current in the store; the replaced one is removed after that. So a reader that checks
 * its hits against the store sees the old generation or the new one, never a mix, never neither.
 * Every operation is idempotent, and a late one changes nothing.
 */
export interface SinkChunk {
  readonly ordinal: number;
  readonly key: string;
  readonly heading: string;
  readonly text: string;
  /** Normalized to length 1, or all zeros. */
  readonly vector: readonly number[];
}

export interface SinkEntity {
  readonly ordinal: number;
  readonly kind: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly mentions: number;
}

/** Two entities that are named together, by ordinal. */
export interface SinkRelation {
  readonly one: number;
  readonly other: number;
  readonly weight: number;
}

export interface Generation {
  readonly id: number;
  readonly caller: string;
  readonly corpus: string;
  readonly documentId: string;
  readonly source: string;
  readonly title: string | null;
  readonly language: string | null;
  /** All chunks with their vectors of a model, in pages, in order. */
  chunks(model: string): AsyncIterable<readonly SinkChunk[]>;
  entities(): Promise<readonly SinkEntity[]>;
  relations(): Promise<readonly SinkRelation[]>;
}

/** The state of a document in the store. */
export interface DocumentState {
  readonly caller: string;
  readonly corpus: string;
  readonly documentId: string;
  /** Undefined if the document is deleted. */
  readonly current: number | undefined;
  readonly title: string | null;
  readonly language: string | null;
  /** No generation up to this one can become current any more. */
  readonly asOf: number;
  /** The models whose vectors the document has; undefined if unknown: then all models. */
  readonly models: readonly string[] | undefined;
}

/** A corpus as embedded with one model. */
export interface CorpusModel {
  readonly corpus: string;
  readonly model: string;
}

export interface Sink {
  readonly name: string;
  /** Vectors are delivered per model, entities once. */
  readonly keeps: 'vectors' | 'entities';
  /** Writes a generation next to the existing ones. It is durable when this resolves. */
  write(generation: Generation, models: readonly string[], signal: AbortSignal): Promise<void>;
  /** Marks the current generation, and removes those that can never be current again. */
  settle(state: DocumentState, signal: AbortSignal): Promise<void>;
  /**
   * Removes the content of corpora that are not in `kept`. `kept` is called after the sink was
   * listed, so that a corpus that was added later stays.
   */
  tidy(kept: () => Promise<readonly CorpusModel[]>, signal: AbortSignal): Promise<void>;
  /** The number of chunks, or of documents with entities, of a corpus, of any generation. */
  size(of: CorpusModel, signal: AbortSignal): Promise<number>;
  /** Describes the sink; throws if it is not usable. */
  check(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface Place {
  readonly generationId: number;
  readonly ordinal: number;
}

export interface Nearest extends CorpusModel {
  readonly caller: string;
  readonly vector: ArrayLike<number>;
  readonly size: number;
  /** Restricts the search to these; no restriction if absent. */
  readonly within?:
    | { readonly generations: readonly number[] }
    | { readonly places: readonly Place[] };
  /** Generations that are known to be outdated. */
  readonly without: readonly number[];
}

export interface Near extends Place {
  readonly documentId: string;
  /** Cosine similarity. */
  readonly score: number;
}

/** A sink that also serves searches. */
export interface VectorSink extends Sink {
  /** The nearest chunks of any generation, nearest first. Undefined if it has no such corpus. */
  nearest(request: Nearest, signal: AbortSignal): Promise<readonly Near[] | undefined>;
}
