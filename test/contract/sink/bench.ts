/**
 * A store with or without a sink, and the real steps that write to both. A document is a list of
 * labels: each is a chunk, an entity, and what readers see.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { SinkSync } from '../../../src/engine/sink-sync.ts';
import { indexStep, pruneStep } from '../../../src/pipeline/index/index-step.ts';
import { persistStep } from '../../../src/pipeline/persist/persist.ts';
import type { StepContext, StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { Embedder } from '../../../src/provider/embedding/embedding.ts';
import { toSignedBytes } from '../../../src/provider/embedding/vector-bytes.ts';
import type { Sink } from '../../../src/sink/sink.ts';
import { pinModel } from '../../../src/store/corpus/settings.ts';
import { appendEvents } from '../../../src/store/delivery/events.ts';
import { insertChunks, insertVectors } from '../../../src/store/document/chunks.ts';
import { documentIdOf, writeText } from '../../../src/store/document/documents.ts';
import { insertEntities } from '../../../src/store/document/entities.ts';
import type { StoreFixture, Submitted } from '../../support/store-fixture.ts';

export interface Corpus {
  readonly caller: string;
  readonly corpus: string;
}

export interface SinkCase {
  readonly name: string;
  readonly keeps: 'vectors' | 'entities';
  readonly store: StoreFixture;
  readonly sink?: Sink | undefined;
  /** Readers use only the sink: current content is visible once it is delivered. */
  readonly isLater?: boolean | undefined;
  /** A reader may find nothing of a document while it is replaced: the server has no snapshots. */
  readonly mayMiss?: boolean | undefined;
  /** What readers see of a corpus now; a word narrows it to headings that contain it. */
  seen(of: Corpus, heading?: string): Promise<string[]>;
  /** Everything that is stored, current or not; undefined if it cannot be listed. */
  kept?(): Promise<string[]>;
}

export const notes: Corpus = { caller: 'ann', corpus: 'notes' };
export const model = 'axes';
export const dimensions = 8;

export class SinkBench {
  readonly case: SinkCase;
  readonly #sinks: readonly Sink[];
  readonly #jobs: Submitted[] = [];
  readonly #steps: Readonly<Record<'persisted' | 'indexed' | 'done', StepFunction>>;

  constructor(given: SinkCase) {
    this.case = given;
    this.#sinks = given.sink ? [given.sink] : [];
    this.#steps = {
      persisted: persistStep(this.#sinks),
      indexed: indexStep({ embedder: axes }, this.#sinks),
      done: pruneStep(this.#sinks),
    };
  }

  get store(): StoreFixture {
    return this.case.store;
  }

  /** Makes a generation in the store, up to `persisted`. Returns its id. */
  async make(source: string, labels: readonly string[], of = notes): Promise<number> {
    const { caller, corpus } = of;
    const sources = [{ kind: 'inline', source }] as const;
    const job = await this.store.submit({ caller, corpus, sources });
    this.#jobs.push(job);
    const [id = 0] = job.ids;
    const documentId = documentIdOf(caller, corpus, source);
    const body = labels.join('\n');
    const text = { title: source, language: 'en', body, content_hash: `${id}`, meta: '{}' };
    await this.store.database.write(async (transaction) => {
      await pinModel(transaction, { ...of, model });
      const row = { ...text, generation_id: id, document_id: documentId };
      await writeText(transaction, row, this.store.world.now());
      await insertChunks(transaction, { documentId, generationId: id }, labels.map(toChunk));
      await insertVectors(transaction, id, labels.map(toVector));
      await insertEntities(transaction, id, entitiesOf(labels));
    });
    return id;
  }

  /** Runs a step of the item that made the generation, and commits its result. */
  async run(step: 'persisted' | 'indexed' | 'done', id: number): Promise<void> {
    const { effect } = (await this.#steps[step](await this.#context(id))) ?? {};
    await this.store.database.write(async (transaction) => {
      const now = this.store.world.now();
      const events = (await effect?.(transaction, now)) ?? [];
      await appendEvents(transaction, events, now);
    });
  }

  async finish(id: number): Promise<void> {
    for (const step of ['persisted', 'indexed', 'done'] as const) await this.run(step, id);
  }

  async publish(source: string, labels: readonly string[], of = notes): Promise<number> {
    const id = await this.make(source, labels, of);
    await this.finish(id);
    return id;
  }

  remove(source: string, { caller, corpus } = notes): Promise<void> {
    return this.store.commands.deleteDocument(caller, documentIdOf(caller, corpus, source));
  }

  /** A corpus with an open job cannot be deleted. */
  async endJobs(): Promise<void> {
    for (const { caller, key } of this.#jobs) await this.store.commands.cancel(caller, key);
  }

  /** What a new process does about the sink. */
  async sinkSync(): Promise<void> {
    for (const sink of this.#sinks) await new SinkSync(this.store.database, sink).run();
  }

  seen(of = notes, heading?: string): Promise<string[]> {
    return this.case.seen(of, heading);
  }

  async #context(id: number): Promise<StepContext> {
    const [row] = await this.store.rows<{
      job_id: number;
      caller: string;
      corpus: string;
      document_id: string;
      source: string;
    }>(
      `SELECT items.job_id, jobs.caller, jobs.corpus, items.document_id, items.source
       FROM items JOIN jobs ON jobs.id = items.job_id WHERE items.id = ${id}`,
    );
    assert.ok(row, `item ${id} is stored`);
    const { job_id: jobId, document_id: documentId, ...rest } = row;
    return {
      item: {
        ...{ id, jobId, documentId, ...rest, sourceKind: 'inline', gate: null },
        ...{ force: false, attempt: 1, payer: { caller: row.caller, corpus: row.corpus } },
      },
      world: this.store.world,
      reader: this.store.database,
      signal: new AbortController().signal,
      scratch: new Map(),
      progress: () => undefined,
    };
  }
}

/** Every vector exists already: nothing is to be embedded. */
const axes: Embedder = {
  model,
  embed: () => Promise.reject(new Error('there is nothing to embed')),
} as Embedder;

function toChunk(label: string, ordinal: number) {
  const key = `${label}-${ordinal}`;
  const offsets = { startOffset: 0, endOffset: label.length, tokenCount: 1 };
  return { key, ordinal, heading: `on ${label}`, text: label, ...offsets };
}

function toVector(label: string, ordinal: number) {
  return { ordinal, model, vector: toSignedBytes(vectorOf(label)) };
}

/** All of them point somewhat upwards, so that a query upwards finds them all. */
export function vectorOf(label: string): number[] {
  const hash = createHash('sha256').update(label).digest();
  return Array.from({ length: dimensions }, (_, place) =>
    place === 0 ? 1 : (hash[place] ?? 0) / 255 - 0.5,
  );
}

function entitiesOf(labels: readonly string[]) {
  const places = [{ start: 0, end: 1 }];
  return {
    entities: labels.map((name) => ({
      ...{ kind: 'person', name, aliases: [`the ${name}`], mentions: 2, places },
    })),
    relations: labels.slice(1).map((_, one) => ({ one, other: one + 1, weight: 3 })),
  };
}
