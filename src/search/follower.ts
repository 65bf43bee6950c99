/**
 * In-memory copies of the current state of a corpus, synchronized with the store. Before each use,
 * the changes since the last use are read from the event log. A flip commits with its event, so a
 * copy with all events up to N is exactly the state after N. A change is applied by reading the
 * current state, so applying it twice or late does no harm.
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
import type { Saveable } from './saved/saveable.ts';
import type { SavedCopies } from './saved/saved-copies.ts';

/** An in-memory copy of the documents of one corpus. */
export interface Copy {
  readonly index: {
    documentIds(): string[];
    generationOf(documentId: string): number | undefined;
    remove(documentId: string): void;
  };
  /** What is saved in a file for other processes; absent: nothing is. */
  readonly saveable?: Saveable;
  /** True: it also has what changes without a new generation, such as metadata. */
  readonly isOfDocuments?: boolean;
  /** Reads the documents and replaces what the copy has of them. */
  put(rows: readonly CurrentRow[]): Promise<void>;
  /** Frees its memory. It must not be used afterwards. */
  release(): void;
}

export interface CopyOf {
  readonly caller: string;
  readonly corpus: string;
  /** Distinguishes several copies of one corpus. */
  readonly kind: string;
}

interface CopyEntry<C extends Copy> {
  readonly of: CopyOf;
  readonly copy: C;
  /** All changes up to this event are applied. */
  cursor: number;
  syncedAt: number;
  /** When it was last decided whether to save it. */
  savedAt: number;
  /** Searches that wait for the copy or use it. */
  users: number;
  lastSync: Promise<void>;
  /** A synchronization that has not started; searches that need one now share it. */
  nextSync: Promise<void> | undefined;
}

export class Follower<C extends Copy> {
  readonly #database: Database;
  readonly #create: (of: CopyOf) => C;
  readonly #saved: SavedCopies | undefined;
  /** Least recently used first. */
  readonly #copies = new Map<string, CopyEntry<C>>();

  constructor(database: Database, create: (of: CopyOf) => C, saved?: SavedCopies) {
    this.#database = database;
    this.#create = create;
    this.#saved = saved;
  }

  /** Runs `work` with the copy, synchronized. */
  async use<T>(of: CopyOf, work: (copy: C) => T | Promise<T>): Promise<T> {
    const entry = this.#entryOf(of);
    entry.users += 1;
    try {
      await this.#synced(entry);
      return await work(entry.copy);
    } catch (error) {
      this.#drop(entry);
      throw error;
    } finally {
      entry.users -= 1;
    }
  }

  #synced(entry: CopyEntry<C>): Promise<void> {
    if (entry.nextSync) return entry.nextSync;
    const synced = entry.lastSync.then(() => {
      entry.nextSync = undefined;
      return this.#sync(entry);
    });
    entry.nextSync = synced;
    // A failure here does not fail later searches: they try again.
    entry.lastSync = synced.catch(() => undefined);
    return synced;
  }

  /** False while it would have to be loaded first. */
  isLoaded(of: CopyOf): boolean {
    return (this.#copies.get(keyOf(of))?.cursor ?? -1) >= 0;
  }

  #entryOf(of: CopyOf): CopyEntry<C> {
    const key = keyOf(of);
    const known = this.#copies.get(key);
    this.#copies.delete(key);
    const isFresh = known && this.#database.now() - known.syncedAt < limits.search.mirrorAgeMsMax;
    if (known && !isFresh) this.#release(known);
    const entry: CopyEntry<C> = isFresh
      ? known
      : {
          of,
          copy: this.#create(of),
          cursor: -1,
          syncedAt: this.#database.now(),
          savedAt: Number.NEGATIVE_INFINITY,
          users: 0,
          lastSync: Promise.resolve(),
          nextSync: undefined,
        };
    this.#copies.set(key, entry);
    this.#makeRoom();
    return entry;
  }

  #makeRoom(): void {
    let excess = this.#copies.size - limits.search.mirrorPartitionsMax;
    for (const [key, entry] of this.#copies) {
      if (excess <= 0) return;
      if (entry.users > 0) continue;
      this.#copies.delete(key);
      this.#release(entry);
      excess -= 1;
    }
  }

  /** A copy that failed midway is not trusted. */
  #drop(entry: CopyEntry<C>): void {
    for (const [key, other] of this.#copies) {
      if (other !== entry) continue;
      this.#copies.delete(key);
      this.#release(entry);
    }
  }

  /** Current users keep it; its memory is freed when the last one is done. */
  #release(entry: CopyEntry<C>): void {
    void entry.lastSync.then(() => entry.copy.release());
  }

  async #sync(entry: CopyEntry<C>): Promise<void> {
    const now = this.#database.now();
    if (entry.cursor < 0) await this.#load(entry);
    const limit = limits.event.pageMax;
    // Changes made while a page is applied are on the next page. A short page is nearly the last,
    // and a store that changes all the time must not hold up the search.
    for (let shortPages = 0; shortPages < limits.search.restartsMax; ) {
      const page = await listChanges(this.#database, { after: entry.cursor, limit });
      if (page.length === 0) break;
      if (page.length < limit) shortPages += 1;
      const ids = page.flatMap(({ documentId }) => documentId ?? []);
      if (ids.length < page.length) await this.#load(entry);
      else if (ids.length > 0) await this.#apply(entry, [...new Set(ids)]);
      entry.cursor = Math.max(entry.cursor, page.at(-1)?.seq ?? 0);
    }
    entry.syncedAt = now;
    this.#saveSoon(entry);
  }

  #saveSoon(entry: CopyEntry<C>): void {
    const { saveable } = entry.copy;
    if (!this.#saved || !saveable) return;
    if (entry.syncedAt - entry.savedAt < limits.search.savedCheckMs) return;
    entry.savedAt = entry.syncedAt;
    this.#saved.saveSoon(entry.of, saveable, entry.cursor);
  }

  async #load(entry: CopyEntry<C>): Promise<void> {
    const { caller, corpus } = entry.of;
    const { saveable } = entry.copy;
    if (entry.cursor < 0 && saveable) await this.#saved?.restore(entry.of, saveable);
    const cursor = await newestSequence(this.#database);
    const seen = new Set<string>();
    const rows: CurrentRow[] = [];
    const limit = limits.search.mirrorPageMax;
    for (let after = '', isFull = true; isFull; ) {
      const page = await listCurrent(this.#database, { caller, corpus, after, limit });
      for (const { id } of page) seen.add(id);
      rows.push(...page.filter((row) => isNew(entry.copy, row)));
      after = page.at(-1)?.id ?? after;
      isFull = page.length === limit;
      await setImmediate();
    }
    // In insertion order, because related rows then lie next to each other on disk.
    await this.#put(
      entry.copy,
      rows.toSorted((one, other) => one.generation_id - other.generation_id),
    );
    for (const id of entry.copy.index.documentIds()) if (!seen.has(id)) entry.copy.index.remove(id);
    entry.cursor = cursor;
  }

  async #apply(
    { of: { caller, corpus }, copy }: CopyEntry<C>,
    ids: readonly string[],
  ): Promise<void> {
    const rows = await getCurrent(this.#database, { caller, corpus, ids });
    await this.#put(copy, rows);
    const present = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!present.has(id)) copy.index.remove(id);
  }

  /** Documents that have become current in the meantime come again with their own event. */
  async #put(copy: C, rows: readonly CurrentRow[]): Promise<void> {
    for (const some of inPortions(rows.filter((row) => isNew(copy, row)))) {
      await copy.put(some);
      // An embedded store responds synchronously; without this, it would block the event loop.
      await setImmediate();
    }
  }
}

function isNew(copy: Copy, { id, generation_id }: CurrentRow): boolean {
  return copy.isOfDocuments === true || copy.index.generationOf(id) !== generation_id;
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
