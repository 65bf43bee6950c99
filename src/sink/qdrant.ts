/**
 * Qdrant: a collection per corpus and model, a point per chunk and generation. A point's id is
 * derived from its generation and ordinal, so writes are idempotent. Qdrant does not decide which
 * generation is current: it can change neither the points of two generations atomically nor
 * together with the store. A search checks its hits against the store
 * (`search/vector/sink-index.ts`). The field `current` is for external readers: for a moment they
 * may see both generations of a document, never none.
 */
import { createHash } from 'node:crypto';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { collectionName, readCollectionName } from './collection-name.ts';
import { type QdrantAddress, QdrantClient } from './qdrant-client.ts';
import type {
  CorpusModel,
  DocumentState,
  Generation,
  Near,
  Nearest,
  Place,
  SinkChunk,
  VectorSink,
} from './sink.ts';

export interface QdrantOptions extends QdrantAddress {
  /** The prefix of collection names. */
  readonly prefix?: string | undefined;
}

const payloadIndexes = {
  caller: { type: 'keyword', is_tenant: true },
  document_id: 'keyword',
  generation: 'integer',
  current: 'bool',
} as const;

interface FoundPoint {
  readonly score: number;
  readonly payload: { document_id: string; generation: number; ordinal: number };
}

export function openQdrant({ prefix = 'pawl', ...address }: QdrantOptions): VectorSink {
  return new QdrantSink(new QdrantClient(address), prefix);
}

class QdrantSink implements VectorSink {
  readonly name = 'qdrant';
  readonly keeps = 'vectors';
  readonly #client: QdrantClient;
  readonly #prefix: string;
  /** Collections that are known to exist, with the length of their vectors. */
  readonly #ready = new Map<string, number>();

  constructor(client: QdrantClient, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  async write(
    generation: Generation,
    models: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const model of models) {
      const collection = this.#nameOf({ corpus: generation.corpus, model });
      for await (const chunks of generation.chunks(model)) {
        const points = chunks.map((chunk) => pointOf(generation, chunk));
        await this.#upsert(collection, points, signal);
      }
    }
  }

  async settle(state: DocumentState, signal: AbortSignal): Promise<void> {
    const operations = settlement(state);
    for (const collection of await this.#collectionsOf(state, signal)) {
      // A missing collection has nothing to update.
      await this.#client.requestIfExists(`POST ${points(collection)}/batch?wait=true`, {
        body: { operations },
        signal,
      });
    }
  }

  async tidy(kept: () => Promise<readonly CorpusModel[]>, signal: AbortSignal): Promise<void> {
    const collections = await this.#own(signal);
    const names = new Set((await kept()).map((each) => this.#nameOf(each)));
    for (const collection of collections) {
      if (names.has(collection)) continue;
      this.#ready.delete(collection);
      await this.#client.requestIfExists(`DELETE ${at(collection)}`, { signal });
    }
  }

  async size(of: CorpusModel, signal: AbortSignal): Promise<number> {
    const answer = await this.#client.requestIfExists<{ count: number }>(
      `POST ${points(this.#nameOf(of))}/count`,
      { body: { exact: true }, signal },
    );
    return answer?.count ?? 0;
  }

  async nearest(request: Nearest, signal: AbortSignal): Promise<readonly Near[] | undefined> {
    const { size, corpus, model } = request;
    const collection = this.#nameOf({ corpus, model });
    const found: Near[] = [];
    for (const filter of filtersOf(request)) {
      const answer = await this.#client.requestIfExists<{ points: FoundPoint[] }>(
        `POST ${points(collection)}/query`,
        {
          body: {
            query: Array.from(request.vector),
            filter,
            limit: size,
            with_payload: ['document_id', 'generation', 'ordinal'],
          },
          timeoutMs: limits.sink.searchMs,
          signal,
        },
      );
      if (!answer) return undefined;
      found.push(...answer.points.map(toNear));
    }
    return found.sort(byScore).slice(0, size);
  }

  async check(signal: AbortSignal): Promise<string> {
    const { version = 'of an unknown version' } = await this.#client.check(signal);
    // The first call needs no key, this one does.
    const collections = await this.#own(signal);
    return `Qdrant ${version}, ${collections.length} collections of ${this.#prefix}`;
  }

  async close(): Promise<void> {
    this.#ready.clear();
  }

  #nameOf(of: CorpusModel): string {
    return collectionName(this.#prefix, of);
  }

  async #collectionsOf({ corpus, models }: DocumentState, signal: AbortSignal): Promise<string[]> {
    if (models) return models.map((model) => this.#nameOf({ corpus, model }));
    const all = await this.#own(signal);
    return all.filter((name) => readCollectionName(this.#prefix, name)?.corpus === corpus);
  }

  async #own(signal: AbortSignal): Promise<string[]> {
    const { collections } = await this.#client.request<{ collections: { name: string }[] }>(
      'GET /collections',
      { signal, timeoutMs: limits.sink.searchMs },
    );
    const names = collections.map(({ name }) => name);
    return names.filter((name) => readCollectionName(this.#prefix, name));
  }

  async #exists(collection: string, signal: AbortSignal): Promise<boolean> {
    const call = `GET ${at(collection)}/exists`;
    return (await this.#client.request<{ exists: boolean }>(call, { signal })).exists;
  }

  async #upsert(
    collection: string,
    rows: readonly ReturnType<typeof pointOf>[],
    signal: AbortSignal,
  ): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const call = `PUT ${points(collection)}?wait=true`;
    const body = { points: rows };
    await this.#ensure(collection, first.vector.length, signal);
    if (await this.#client.requestIfExists(call, { body, signal })) return;
    // Another client removed it, so the cached state is wrong.
    this.#ready.delete(collection);
    await this.#ensure(collection, first.vector.length, signal);
    await this.#client.request(call, { body, signal });
  }

  async #ensure(collection: string, size: number, signal: AbortSignal): Promise<void> {
    if (!this.#ready.has(collection)) {
      if (!(await this.#exists(collection, signal))) await this.#create(collection, size, signal);
      await this.#index(collection, signal);
      this.#ready.set(collection, await this.#sizeOf(collection, signal));
    }
    const there = this.#ready.get(collection);
    if (there === size) return;
    const message = `the collection ${collection} has vectors of ${there} numbers, not of ${size}`;
    throw new Failure('qdrant_refused', `${message}: remove it, and Pawl will fill it again`);
  }

  async #create(collection: string, size: number, signal: AbortSignal): Promise<void> {
    try {
      const body = { vectors: { size, distance: 'Cosine' } };
      await this.#client.request(`PUT ${at(collection)}`, { body, signal });
    } catch (error) {
      // Another process created it first, or an earlier call of ours succeeded after all.
      if (!(await this.#exists(collection, signal))) throw error;
    }
  }

  async #index(collection: string, signal: AbortSignal): Promise<void> {
    for (const [field_name, field_schema] of Object.entries(payloadIndexes)) {
      const body = { field_name, field_schema };
      await this.#client.request(`PUT ${at(collection)}/index?wait=true`, { body, signal });
    }
  }

  async #sizeOf(collection: string, signal: AbortSignal): Promise<number> {
    const { config } = await this.#client.request<{
      config: { params: { vectors?: { size?: number } } };
    }>(`GET ${at(collection)}`, { signal });
    return config.params.vectors?.size ?? 0;
  }
}

function at(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`;
}

function points(collection: string): string {
  return `${at(collection)}/points`;
}

function pointOf(generation: Generation, chunk: SinkChunk) {
  const { id, caller, documentId, source, title, language } = generation;
  const { ordinal, key, heading, text, vector } = chunk;
  return {
    id: pointId({ generationId: id, ordinal }),
    vector: [...vector],
    payload: {
      caller,
      document_id: documentId,
      generation: id,
      ordinal,
      chunk_id: key,
      heading,
      text,
      source,
      title,
      language,
      current: false,
    },
  };
}

/** The id of a point as a UUID, which Qdrant requires: always the same for the same position. */
export function pointId({ generationId, ordinal }: Place): string {
  const hex = createHash('sha256').update(`${generationId}/${ordinal}`).digest('hex');
  // UUID version 8: custom content.
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** First the new generation is marked, then the old ones are removed: in between both are there. */
function settlement({ documentId, current, asOf }: DocumentState): object[] {
  const ofDocument = { key: 'document_id', match: { value: documentId } };
  const ofCurrent = { key: 'generation', match: { value: current } };
  const outlived = { key: 'generation', range: { lte: asOf } };
  if (current === undefined) return [{ delete: { filter: { must: [ofDocument, outlived] } } }];
  return [
    { set_payload: { payload: { current: true }, filter: { must: [ofDocument, ofCurrent] } } },
    { delete: { filter: { must: [ofDocument, outlived], must_not: [ofCurrent] } } },
  ];
}

/** One filter per query that is needed. */
function filtersOf({ caller, within, without }: Nearest): object[] {
  const ofCaller = { key: 'caller', match: { value: caller } };
  const must_not = without.length === 0 ? [] : [{ key: 'generation', match: { any: without } }];
  if (!within) return [{ must: [ofCaller], must_not }];
  const conditions =
    'generations' in within
      ? portions(within.generations).map((any) => ({ key: 'generation', match: { any } }))
      : portions(within.places).map((places) => ({ has_id: places.map(pointId) }));
  return conditions.map((condition) => ({ must: [ofCaller, condition], must_not }));
}

function portions<T>(all: readonly T[]): (readonly T[])[] {
  const size = limits.sink.namedMax;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

function toNear({ score, payload }: FoundPoint): Near {
  const { document_id: documentId, generation: generationId, ordinal } = payload;
  return { documentId, generationId, ordinal, score };
}

function byScore(one: Near, other: Near): number {
  return (
    other.score - one.score || one.generationId - other.generationId || one.ordinal - other.ordinal
  );
}
