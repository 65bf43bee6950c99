/**
 * The documents that recent filters allow, kept in memory and synchronized with the store before
 * each use, like the copies of `follower.ts`: after an event, its documents are compared with the
 * filter again. So a repeated filter costs one look at the event log, however many documents it
 * allows.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { newestSequence } from '../../store/delivery/events.ts';
import { listChanges } from '../../store/document/contents.ts';
import type { Database } from '../../store/driver/database.ts';
import {
  type Allowed,
  checkCondition,
  type Filtered,
  readAllowed,
  readAmong,
  readDocuments,
} from './allowed.ts';

interface Entry {
  readonly of: Filtered;
  /** Of each document its current generation. Searches that use it see later changes as well. */
  documents: Map<string, number>;
  /** All changes up to this event are applied; negative before the first read. */
  cursor: number;
  syncedAt: number;
  lastSync: Promise<void>;
}

export class FilterCache {
  readonly #database: Database;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(database: Database) {
    this.#database = database;
  }

  async read(filtered: Filtered): Promise<Allowed> {
    const { caller, corpus, filter } = filtered;
    // A filter by heading allows single chunks, and there may be many of them.
    if (filter.heading_pattern !== null) return readAllowed(this.#database, filtered);
    const key = JSON.stringify([caller, corpus, filter]);
    const entry = this.#entryOf(key, { caller, corpus, filter });
    const synced = entry.lastSync.then(() => this.#sync(entry));
    // A failure here does not fail later searches: they try again.
    entry.lastSync = synced.catch(() => undefined);
    try {
      await synced;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
    this.#makeRoom();
    return this.#allowedBy(entry);
  }

  #entryOf(key: string, of: Filtered): Entry {
    const known = this.#entries.get(key);
    const now = this.#database.now();
    const isFresh = known && now - known.syncedAt < limits.search.mirrorAgeMsMax;
    const entry: Entry = isFresh
      ? known
      : { of, documents: new Map(), cursor: -1, syncedAt: now, lastSync: Promise.resolve() };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  async #sync(entry: Entry): Promise<void> {
    const now = this.#database.now();
    if (entry.cursor < 0) await this.#load(entry);
    const limit = limits.event.pageMax;
    for (let round = 0; round <= limits.search.restartsMax; round += 1) {
      const page = await listChanges(this.#database, { after: entry.cursor, limit });
      if (page.length === 0) break;
      const ids = [...new Set(page.flatMap(({ documentId }) => documentId ?? []))];
      // An event without a document concerns a whole corpus. Many changes: a full read is faster.
      const isWhole = page.length === limit || page.some(({ documentId }) => !documentId);
      if (isWhole) await this.#load(entry);
      else {
        await this.#apply(entry, ids);
        entry.cursor = page.at(-1)?.seq ?? entry.cursor;
      }
    }
    entry.syncedAt = now;
  }

  async #load(entry: Entry): Promise<void> {
    await checkCondition(this.#database, entry.of);
    const cursor = await newestSequence(this.#database);
    entry.documents = await readDocuments(this.#database, entry.of);
    entry.cursor = cursor;
  }

  async #apply({ of, documents }: Entry, ids: readonly string[]): Promise<void> {
    const allowed = await readAmong(this.#database, of, ids);
    for (const id of ids) {
      const generation = allowed.get(id);
      if (generation === undefined) documents.delete(id);
      else documents.set(id, generation);
    }
  }

  #makeRoom(): void {
    let documents = 0;
    for (const entry of this.#entries.values()) documents += entry.documents.size;
    for (const [key, entry] of this.#entries) {
      const isFull =
        this.#entries.size > limits.search.filtersKeptMax ||
        documents > limits.search.filterDocumentsMax;
      if (!isFull || this.#entries.size === 1) return;
      this.#entries.delete(key);
      documents -= entry.documents.size;
    }
  }

  #allowedBy({ of, documents, cursor: after }: Entry): Allowed {
    let [last, verdict] = ['', false];
    return {
      documents,
      // The chunks of a document follow each other.
      isAllowed: ({ documentId }) => {
        if (documentId !== last) [last, verdict] = [documentId, documents.has(documentId)];
        return verdict;
      },
      within: () => ({ generations: [...documents.values()] }),
      renewed: async () => {
        const limit = limits.event.pageMax;
        const changes = await listChanges(this.#database, { after, limit });
        const isHere = ({ documentId }: { documentId: string | undefined }): boolean =>
          documentId === undefined || documents.has(documentId);
        const isChanged = changes.length === limit || changes.some(isHere);
        return isChanged ? this.read(of) : undefined;
      },
    };
  }
}
