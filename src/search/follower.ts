/**
 * Copies in memory of what is current in a corpus, kept in step with the store. Before each use the
 * changes since the last one are read from the event log: a flip commits with its event, so whoever
 * has applied all events up to N holds exactly what was current after N. A change is applied by
 * reading what is current now, so applying one twice, or late, does no harm.
 */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../kernel/limits/limits.ts';
import { newestSequence } from '../store/delivery/events.ts';
import {
  type CurrentRow,
  getCurrent,
  listChanges,
  listCurrent,
} from '../store/document/contents.ts';
import type { Database } from '../store/driver/database.ts';

/** What is held of the documents of one corpus. */
export interface Copy {
  documentIds(): string[];
  generationOf(documentId: string): number | undefined;
  /** Reads the documents and takes them in, each in the place of what it had before. */
  put(rows: readonly CurrentRow[]): Promise<void>;
  remove(documentId: string): void;
  /** Hands its memory back. It is not used after that. */
  release(): void;
}

export interface CopyOf {
  readonly caller: string;
  readonly corpus: string;
  /** What else tells one copy of a corpus from another. */
  readonly kind: string;
}

interface Held<C extends Copy> {
  readonly of: CopyOf;
  readonly copy: C;
  /** All changes up to this event are in. */
  cursor: number;
  syncedAt: number;
  /** Searches that wait for it or use it. */
  users: number;
  turn: Promise<void>;
}

export class Follower<C extends Copy> {
  readonly #database: Database;
  readonly #create: (of: CopyOf) => C;
  /** Least recently used first. */
  readonly #held = new Map<string, Held<C>>();

  constructor(database: Database, create: (of: CopyOf) => C) {
    this.#database = database;
    this.#create = create;
  }

  /** Works with the copy as it is now. */
  async use<T>(of: CopyOf, work: (copy: C) => T | Promise<T>): Promise<T> {
    const held = this.#hold(of);
    held.users += 1;
    const synced = held.turn.then(() => this.#sync(held));
    // Who comes later does not fail with this one: it tries again.
    held.turn = synced.catch(() => undefined);
    try {
      await synced;
      return await work(held.copy);
    } catch (error) {
      this.#drop(held);
      throw error;
    } finally {
      held.users -= 1;
    }
  }

  /** False while it would have to be read first. */
  isLoaded(of: CopyOf): boolean {
    return (this.#held.get(keyOf(of))?.cursor ?? -1) >= 0;
  }

  #hold(of: CopyOf): Held<C> {
    const key = keyOf(of);
    const known = this.#held.get(key);
    this.#held.delete(key);
    const isFresh = known && this.#database.now() - known.syncedAt < limits.search.mirrorAgeMsMax;
    if (known && !isFresh) this.#release(known);
    const held: Held<C> = isFresh
      ? known
      : {
          of,
          copy: this.#create(of),
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
  #drop(held: Held<C>): void {
    for (const [key, other] of this.#held) if (other === held) this.#held.delete(key);
    this.#release(held);
  }

  /** Those who still use it keep it; its memory goes back when the last one is done. */
  #release(held: Held<C>): void {
    void held.turn.then(() => held.copy.release());
  }

  async #sync(held: Held<C>): Promise<void> {
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

  async #load(held: Held<C>): Promise<void> {
    const { caller, corpus } = held.of;
    const cursor = await newestSequence(this.#database);
    const seen = new Set<string>();
    const rows: CurrentRow[] = [];
    const limit = limits.search.mirrorPageMax;
    for (let after = '', isFull = true; isFull; ) {
      const page = await listCurrent(this.#database, { caller, corpus, after, limit });
      for (const { id } of page) seen.add(id);
      rows.push(...page.filter((row) => isNew(held.copy, row)));
      after = page.at(-1)?.id ?? after;
      isFull = page.length === limit;
    }
    // In the order in which they were written, what belongs to them lies side by side on disk.
    await this.#put(
      held.copy,
      rows.toSorted((one, other) => one.generation_id - other.generation_id),
    );
    for (const id of held.copy.documentIds()) if (!seen.has(id)) held.copy.remove(id);
    held.cursor = cursor;
  }

  async #apply({ of: { caller, corpus }, copy }: Held<C>, ids: readonly string[]): Promise<void> {
    const rows = await getCurrent(this.#database, { caller, corpus, ids });
    await this.#put(copy, rows);
    const present = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!present.has(id)) copy.remove(id);
  }

  /** Documents that have become current in the meantime come again with their own event. */
  async #put(copy: C, rows: readonly CurrentRow[]): Promise<void> {
    for (const some of inPortions(rows.filter((row) => isNew(copy, row)))) {
      await copy.put(some);
      // An embedded store answers at once; without this, nothing else would have its turn.
      await setImmediate();
    }
  }
}

function isNew(copy: Copy, { id, generation_id }: CurrentRow): boolean {
  return copy.generationOf(id) !== generation_id;
}

function keyOf({ caller, corpus, kind }: CopyOf): string {
  return JSON.stringify([caller, corpus, kind]);
}

/** A few documents, or one large one, at a time. */
function* inPortions(rows: readonly CurrentRow[]): Generator<CurrentRow[]> {
  let portion: CurrentRow[] = [];
  let chunks = 0;
  for (const row of rows) {
    portion.push(row);
    chunks += row.chunk_count;
    if (chunks < limits.search.mirrorChunksAtOnce) continue;
    yield portion;
    portion = [];
    chunks = 0;
  }
  if (portion.length > 0) yield portion;
}
