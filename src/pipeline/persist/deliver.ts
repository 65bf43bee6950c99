/**
 * Delivers generations to sinks, outside of any transaction and before the commit of the step, so
 * that a committed step means that the sinks have the data. After a crash in between, the step runs
 * again and writes the same data again.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { fromSignedBytes } from '../../provider/embedding/vector-bytes.ts';
import type { DocumentState, Generation, Sink, SinkChunk } from '../../sink/sink.ts';
import {
  buriedUpTo,
  getSinkDocument,
  listSinkEntities,
  listSinkRelations,
  listVectorChunks,
  noModel,
  type SinkDelivery,
  type VectorChunkRow,
} from '../../store/delivery/sinks.ts';
import type { Reader } from '../../store/driver/database.ts';

/** The owner of the generation, and the metadata of its document. */
export type GenerationHead = Omit<Generation, 'chunks' | 'entities' | 'relations'>;

/** Vectors that are not in the store yet, by chunk ordinal. */
export interface NewVectors {
  readonly model: string;
  readonly ordinals: readonly number[];
  readonly vectors: readonly Uint8Array[];
}

/** A generation from the store, read while it is written to the sink. */
export function storedGeneration(
  reader: Reader,
  head: GenerationHead,
  added: readonly NewVectors[] = [],
): Generation {
  return {
    ...head,
    chunks: (model) => {
      const own = added.find((part) => part.model === model);
      const ofChunk = new Map(own?.ordinals.map((ordinal, at) => [ordinal, own.vectors[at]]));
      return chunksOf(reader, { generationId: head.id, model }, ofChunk);
    },
    entities: () => listSinkEntities(reader, head.id),
    relations: () => listSinkRelations(reader, head.id),
  };
}

async function* chunksOf(
  reader: Reader,
  of: { generationId: number; model: string },
  added: ReadonlyMap<number, Uint8Array | undefined>,
): AsyncGenerator<readonly SinkChunk[], void> {
  const limit = limits.sink.batchMax;
  for (let after = -1, isFull = true; isFull; ) {
    const page = await listVectorChunks(reader, { ...of, after, limit });
    if (page.length > 0) yield page.map((row) => toChunk(row, of, added.get(row.ordinal)));
    after = page.at(-1)?.ordinal ?? after;
    isFull = page.length === limit;
  }
}

function toChunk(
  { vector: stored, ...chunk }: VectorChunkRow,
  { generationId, model }: { generationId: number; model: string },
  added: Uint8Array | undefined,
): SinkChunk {
  const bytes = added ?? stored;
  if (bytes) return { ...chunk, vector: unitVector(bytes) };
  const message = `chunk ${chunk.ordinal} of generation ${generationId} has no vector of ${model}`;
  throw new Failure('step_output_invalid', message);
}

/** Six digits are more precise than the stored bytes. */
const digits = 1e6;

function unitVector(bytes: Uint8Array): number[] {
  const words = fromSignedBytes(bytes);
  let sum = 0;
  for (const word of words) sum += word * word;
  const scale = sum === 0 ? 0 : digits / Math.sqrt(sum);
  return Array.from(words, (word) => Math.round(word * scale) / digits);
}

export interface Delivery {
  readonly generation: Generation;
  /** The models whose vectors are delivered to vector sinks. */
  readonly models: readonly string[];
  readonly signal: AbortSignal;
}

/** Returns what the sinks have now, to be recorded in the commit of the step. */
export async function deliver(
  sinks: readonly Sink[],
  { generation, models, signal }: Delivery,
): Promise<SinkDelivery[]> {
  const deliveries = await Promise.all(
    sinks.map(async (sink) => {
      await sink.write(generation, models, signal);
      const delivered = sink.keeps === 'vectors' ? models : [noModel];
      return delivered.map((model) => ({ generationId: generation.id, sink: sink.name, model }));
    }),
  );
  return deliveries.flat();
}

/** The state of a document in the store, in the format of sinks. */
export async function readDocumentState(
  reader: Reader,
  of: { documentId: string; caller: string; corpus: string },
): Promise<DocumentState> {
  const { documentId, caller, corpus } = of;
  const buried = await buriedUpTo(reader, documentId);
  const row = await getSinkDocument(reader, documentId);
  const { title = null, language = null } = row ?? {};
  const key = { documentId, caller, corpus, title, language };
  if (!row) return { ...key, current: undefined, asOf: buried, models: undefined };
  const models = [row.model, row.next_model].filter((model) => model !== null);
  return { ...key, current: row.generation_id, asOf: Math.max(row.as_of, buried), models };
}

/** Makes the sinks keep only the current generation of a document. */
export async function settleDocument(
  sinks: readonly Sink[],
  state: DocumentState,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(sinks.map((sink) => sink.settle(state, signal)));
}
