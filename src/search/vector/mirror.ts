/**
 * The current vectors of each corpus, held in memory and kept in step with the store. Before each
 * search the changes since the last one are read from the event log: a flip commits with its event,
 * so whoever has applied all events up to N holds exactly what was current after N. A change is
 * applied by reading what is current now, so applying one twice, or late, does no harm.
 */
import { limits } from '../../kernel/limits.ts';
import {
  type CurrentRow,
  getCurrent,
  getVectors,
  listChanges,
  listCurrent,
  listVectors,
} from '../../store/contents.ts';
import type { Database } from '../../store/database.ts';
import { newestSequence } from '../../store/events.ts';
import { Arena, toQuery } from './arena.ts';
import { Partition, type VectorHit, type VectorPlace, type VectorRow } from './partition.ts';
import { rescore } from './rescore.ts';

export interface MirrorSearch {
  readonly caller: string;
  readonly corpus: string;
  readonly model: string;
  readonly vector: ArrayLike<number>;
  readonly size: number;
  readonly isAllowed?: ((place: VectorPlace) => boolean) | undefined;
}

interface Held {
  readonly caller: string;
  readonly corpus: string;
  readonly model: string;
  readonly dimensions: number;
  readonly partition: Partition;
  /** All changes up to this event are in. */
  cursor: number;
  syncedAt: number;
  /** Searches that wait for it or use it. */
  users: number;
  turn: Promise<void>;
}

export class Mirror {
  readonly #database: Database;
  readonly #arena: Arena;
  /** Least recently used first. */
  readonly #held = new Map<string, Held>();

  constructor(database: Database, arena = new Arena()) {
    this.#database = database;
    this.#arena = arena;
  }

  /** The nearest of the vectors that are current, nearest first. */
  async search(request: MirrorSearch): Promise<VectorHit[]> {
    const held = this.#hold(request);
    held.users += 1;
    const synced = held.turn.then(() => this.#sync(held));
    // Who comes later does not fail with this one: it tries again.
    held.turn = synced.catch(() => undefined);
    try {
      await synced;
      const { vector, size, isAllowed } = request;
      return await this.#inOrder(request, held.partition.search(toQuery(vector), size, isAllowed));
    } catch (error) {
      this.#drop(held);
      throw error;
    } finally {
      held.users -= 1;
    }
  }

  /** The first ones are put in the order of their whole vectors. */
  async #inOrder({ model, vector }: MirrorSearch, hits: VectorHit[]): Promise<VectorHit[]> {
    const first = hits.slice(0, limits.search.rescoredMax);
    const places = first.map(({ generationId, ordinal }) => [generationId, ordinal] as const);
    const rows = await getVectors(this.#database, { model, places });
    const bytes = new Map(rows.map((row) => [`${row.generation_id}/${row.ordinal}`, row.vector]));
    const bytesOf = (hit: VectorHit) => bytes.get(`${hit.generationId}/${hit.ordinal}`);
    return [...rescore(first, vector, bytesOf), ...hits.slice(first.length)];
  }

  #hold({ caller, corpus, model, vector }: MirrorSearch): Held {
    const key = JSON.stringify([caller, corpus, model, vector.length]);
    const known = this.#held.get(key);
    this.#held.delete(key);
    const isFresh = known && this.#database.now() - known.syncedAt < limits.search.mirrorAgeMsMax;
    if (known && !isFresh) this.#release(known);
    const held = isFresh
      ? known
      : {
          caller,
          corpus,
          model,
          dimensions: vector.length,
          partition: new Partition(this.#arena, vector.length),
          cursor: -1,
          syncedAt: this.#database.now(),
          users: 0,
          turn: Promise.resolve(),
        };
    this.#held.set(key, held);
    this.#makeRoom();
    return held;
  }

  #makeRoom(): void {
    let excess = this.#held.size - limits.search.mirrorPartitionsMax;
    for (const [key, held] of this.#held) {
      if (excess <= 0) return;
      if (held.users > 0) continue;
      this.#held.delete(key);
      this.#release(held);
      excess -= 1;
    }
  }

  /** What failed half-way is not trusted. */
  #drop(held: Held): void {
    for (const [key, other] of this.#held) if (other === held) this.#held.delete(key);
    this.#release(held);
  }

  /** Those who still use it keep it; its memory goes back when the last one is done. */
  #release(held: Held): void {
    void held.turn.then(() => held.partition.release());
  }

  async #sync(held: Held): Promise<void> {
    const now = this.#database.now();
    if (held.cursor < 0) await this.#load(held);
    const limit = limits.event.pageMax;
    // What changes while a page is applied is on the next one; a page that is not full is nearly
    // the last, and a store that changes all the time must not hold the search up.
    for (let shortPages = 0; shortPages < limits.search.restartsMax; ) {
      const page = await listChanges(this.#database, { after: held.cursor, limit });
      if (page.length === 0) break;
      if (page.length < limit) shortPages += 1;
      const ids = page.flatMap(({ documentId }) => documentId ?? []);
      if (ids.length < page.length) await this.#load(held);
      else if (ids.length > 0) await this.#apply(held, [...new Set(ids)]);
      held.cursor = Math.max(held.cursor, page.at(-1)?.seq ?? 0);
    }
    held.syncedAt = now;
  }

  async #load(held: Held): Promise<void> {
    const { caller, corpus, partition } = held;
    const cursor = await newestSequence(this.#database);
    const seen = new Set<string>();
    const limit = limits.search.mirrorPageMax;
    for (let after = '', isFull = true; isFull; ) {
      const page = await listCurrent(this.#database, { caller, corpus, after, limit });
      await this.#put(held, page);
      for (const { id } of page) seen.add(id);
      after = page.at(-1)?.id ?? after;
      isFull = page.length === limit;
    }
    for (const id of partition.documentIds()) if (!seen.has(id)) partition.remove(id);
    held.cursor = cursor;
  }

  async #apply(held: Held, ids: readonly string[]): Promise<void> {
    const { caller, corpus, partition } = held;
    const rows = await getCurrent(this.#database, { caller, corpus, ids });
    await this.#put(held, rows);
    const present = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!present.has(id)) partition.remove(id);
  }

  /** Documents that have become current in the meantime come again with their own event. */
  async #put({ model, dimensions, partition }: Held, rows: readonly CurrentRow[]): Promise<void> {
    const changed = rows.filter((row) => partition.generationOf(row.id) !== row.generation_id);
    for (const some of inPortions(changed)) {
      const generationIds = some.map(({ generation_id }) => generation_id);
      const vectors = await listVectors(this.#database, { model, dimensions, generationIds });
      const byGeneration = Map.groupBy(vectors, ({ generation_id }) => generation_id);
      for (const { id, generation_id } of some) {
        partition.put(id, generation_id, (byGeneration.get(generation_id) ?? []) as VectorRow[]);
      }
    }
  }
}

/** A few documents, or one large one, at a time. */
function* inPortions(rows: readonly CurrentRow[]): Generator<CurrentRow[]> {
  let portion: CurrentRow[] = [];
  let chunks = 0;
  for (const row of rows) {
    portion.push(row);
    chunks += row.chunk_count;
    if (chunks < limits.document.chunksMax) continue;
    yield portion;
    portion = [];
    chunks = 0;
  }
  if (portion.length > 0) yield portion;
}
