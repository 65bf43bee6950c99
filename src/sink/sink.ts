/**
 * Sinks keep copies of generations outside the store, for others to read and for Pawl to search.
 * The store alone says what is current. A generation is written beside whatever is there, before it
 * becomes current in the store; what it replaced is removed after that. So whoever finds something
 * in a sink and asks the store whether it is current sees the old generation or the new one, never
 * a mix, never neither. Everything here may be done twice, and late: it changes nothing then.
 */
export interface SinkChunk {
  readonly ordinal: number;
  readonly key: string;
  readonly heading: string;
  readonly text: string;
  /** Of length 1, or all zeros. */
  readonly vector: readonly number[];
}

export interface SinkEntity {
  readonly ordinal: number;
  readonly kind: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly mentions: number;
}

/** Two entities that are named together, by their ordinals. */
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
  /** All chunks with their vectors of a model, some at a time, in their order. */
  chunks(model: string): AsyncIterable<readonly SinkChunk[]>;
  entities(): Promise<readonly SinkEntity[]>;
  relations(): Promise<readonly SinkRelation[]>;
}

/** What the store says of a document now. */
export interface Standing {
  readonly caller: string;
  readonly corpus: string;
  readonly documentId: string;
  /** Undefined: the document is deleted. */
  readonly current: number | undefined;
  readonly title: string | null;
  readonly language: string | null;
  /** No generation up to this one can become current any more. */
  readonly asOf: number;
  /** The models whose vectors the document has; undefined: whichever there may be. */
  readonly models: readonly string[] | undefined;
}

/** A corpus as it is embedded with a model. */
export interface CorpusModel {
  readonly corpus: string;
  readonly model: string;
}

export interface Sink {
  readonly name: string;
  /** Vectors are delivered for each model, entities once. */
  readonly keeps: 'vectors' | 'entities';
  /** Writes a generation beside what is there. It is there when this resolves. */
  write(generation: Generation, models: readonly string[], signal: AbortSignal): Promise<void>;
  /** Marks the current generation, and removes those that can never be current again. */
  settle(standing: Standing, signal: AbortSignal): Promise<void>;
  /**
   * Removes what is kept of corpora that are not among these. They are asked for when it is known
   * what is there: whatever was begun later is left alone.
   */
  tidy(kept: () => Promise<readonly CorpusModel[]>, signal: AbortSignal): Promise<void>;
  /** How many chunks, or documents with their entities, it has of a corpus, whichever they are. */
  size(of: CorpusModel, signal: AbortSignal): Promise<number>;
  /** Says what it is; throws if it cannot be used. */
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
  /** Only among these; among all where absent. */
  readonly within?:
    | { readonly generations: readonly number[] }
    | { readonly places: readonly Place[] };
  /** Generations that are known not to be current. */
  readonly without: readonly number[];
}

export interface Near extends Place {
  readonly documentId: string;
  /** The cosine. */
  readonly score: number;
}

/** A sink that is also searched. */
export interface VectorSink extends Sink {
  /** The nearest chunks of any generation, nearest first. Undefined: it has no such corpus. */
  nearest(request: Nearest, signal: AbortSignal): Promise<readonly Near[] | undefined>;
}
