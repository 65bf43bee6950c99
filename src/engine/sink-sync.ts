/**
 * Keeps sinks in sync with changes outside the steps. Steps deliver what they make; this reads the
 * log for the rest: deleted documents, corpora that were deleted or have another model, and content
 * made current by a process without the sink. A sink that is new, or has lost its content, is first
 * filled from the store. Its log position is stored after everything before it is done, and every
 * delivery is idempotent: the next run repairs a crash at any point.
 */
import { limits } from '../kernel/limits/limits.ts';
import {
  deliver,
  readDocumentState,
  settleDocument,
  storedGeneration,
} from '../pipeline/persist/deliver.ts';
import type { Sink } from '../sink/sink.ts';
import { newestSequence } from '../store/delivery/events.ts';
import {
  deliveredModels,
  forgetDeliveries,
  getSinkDocument,
  listCorpusModels,
  listDeliveredSizes,
  listSinkChanges,
  listSinkDocuments,
  noModel,
  readSinkPlace,
  recordDeliveries,
  type SinkChange,
  type SinkDocumentRow,
  writeSinkPlace,
} from '../store/delivery/sinks.ts';
import type { Database } from '../store/driver/database.ts';

export class SinkSync {
  readonly #database: Database;
  readonly #sink: Sink;
  readonly #stopping = new AbortController();
  #comparedAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, sink: Sink) {
    this.#database = database;
    this.#sink = sink;
  }

  get name(): string {
    return this.#sink.name;
  }

  /** Brings the sink up to date. */
  async run(): Promise<void> {
    try {
      await this.#compare();
      const place = await readSinkPlace(this.#database, this.name);
      if (place === undefined) await this.#fill();
      else await this.#follow(place);
    } catch (error) {
      // An error caused by stopping is expected.
      if (!this.#stopping.signal.aborted) throw error;
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /**
   * A sink has at least what was delivered and is current, because that is removed there last. A
   * sink with less was recreated or restored from an old copy: everything is delivered again.
   */
  async #compare(): Promise<void> {
    const now = this.#database.now();
    if (now - this.#comparedAt < limits.sink.compareMs) return;
    for (const { corpus, model, documents, chunks } of await listDeliveredSizes(
      this.#database,
      this.name,
    )) {
      const there = await this.#sink.size({ corpus, model }, this.#stopping.signal);
      if (there >= (this.#sink.keeps === 'vectors' ? chunks : documents)) continue;
      await this.#database.write((transaction) => forgetDeliveries(transaction, this.name));
      break;
    }
    this.#comparedAt = now;
  }

  async #fill(): Promise<void> {
    const seq = await newestSequence(this.#database);
    await this.#bringAll();
    await this.#tidy();
    await this.#moveTo(seq);
  }

  async #bringAll(): Promise<void> {
    const limit = limits.sink.pageMax;
    for (let after = '', isFull = true; isFull; ) {
      const page = await listSinkDocuments(this.#database, { after, limit });
      for (let at = 0; at < page.length; at += limits.sink.fillAtOnce) {
        const some = page.slice(at, at + limits.sink.fillAtOnce);
        await Promise.all(some.map((row) => this.#bring(row)));
      }
      after = page.at(-1)?.id ?? after;
      isFull = page.length === limit;
    }
  }

  async #follow(place: number): Promise<void> {
    const limit = limits.sink.pageMax;
    for (let after = place, isFull = true; isFull && !this.#stopping.signal.aborted; ) {
      const newest = await newestSequence(this.#database);
      const page = await listSinkChanges(this.#database, { after, limit });
      await this.#apply(page);
      isFull = page.length === limit;
      const read = isFull ? (page.at(-1)?.seq ?? after) : Math.max(newest, page.at(-1)?.seq ?? 0);
      const isFar = page.length > 0 || read - after > limits.sink.eventsSkippedMax;
      if (isFar) await this.#moveTo(read);
      after = read;
    }
  }

  async #apply(page: readonly SinkChange[]): Promise<void> {
    const flipped = new Set<string>();
    for (const { documentId, deletedFrom } of page) {
      if (documentId === undefined) continue;
      if (deletedFrom) await this.#remove({ documentId, ...deletedFrom });
      else flipped.add(documentId);
    }
    for (const id of flipped) {
      const row = await getSinkDocument(this.#database, id);
      if (row) await this.#bring(row);
    }
    if (page.some(({ isTurned }) => isTurned)) await this.#bringAll();
    if (page.some(({ documentId }) => documentId === undefined)) await this.#tidy();
  }

  async #remove(of: { documentId: string; caller: string; corpus: string }): Promise<void> {
    const standing = await readDocumentState(this.#database, of);
    await settleDocument([this.#sink], standing, this.#stopping.signal);
  }

  /** Delivers current content unless that was done: then it costs one query. */
  async #bring(row: SinkDocumentRow): Promise<void> {
    const missing = await this.#missing(row);
    if (missing.length === 0) return;
    const { signal } = this.#stopping;
    const { id: documentId, generation_id: id } = row;
    const generation = storedGeneration(this.#database, { ...row, id, documentId });
    const deliveries = await deliver([this.#sink], { generation, models: missing, signal });
    // Only now: otherwise content replaced meanwhile would be marked as delivered without being
    // there.
    const standing = await readDocumentState(this.#database, { ...row, documentId });
    await settleDocument([this.#sink], standing, signal);
    if (standing.current !== id) return;
    await this.#database.write((transaction) => recordDeliveries(transaction, deliveries));
  }

  async #missing({ generation_id, model, next_model }: SinkDocumentRow): Promise<string[]> {
    const there = await deliveredModels(this.#database, generation_id, this.name);
    const models = [model, next_model].filter((name) => name !== null);
    const needed = this.#sink.keeps === 'vectors' ? models : [noModel];
    return needed.filter((name) => !there.has(name));
  }

  async #tidy(): Promise<void> {
    const kept = () => listCorpusModels(this.#database);
    await this.#sink.tidy(kept, this.#stopping.signal);
  }

  #moveTo(seq: number): Promise<void> {
    return this.#database.write((transaction) => writeSinkPlace(transaction, this.name, seq));
  }
}
