/** Documents of the batch lane on a store; a provider in memory counts its requests. */
import { bankLeft } from '../../../src/engine/batch/bank.ts';
import { gatherLines, settleEnded } from '../../../src/engine/batch/lane.ts';
import { BatchProviders } from '../../../src/engine/batch/plan.ts';
import type { BatchOptions } from '../../../src/engine/batch/submit.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import { PaidAnswers } from '../../../src/pipeline/paid-answers.ts';
import type { Pipeline } from '../../../src/pipeline/pipeline.ts';
import { toSignedBytes } from '../../../src/provider/embedding/vector-bytes.ts';
import { submitTexts } from '../../contract/engine/money.ts';
import type { EngineFixture } from '../engine-fixture.ts';
import { extractor } from '../local-extractor.ts';
import { meteredEmbedder } from '../metered-embedder.ts';
import type { Submitted } from '../store-fixture.ts';
import { memoryBlobs } from './fixture.ts';
import { MeteredBatches } from './metered-batches.ts';
import { reconcile, submitDue } from './rounds.ts';

/** A cent for each token in a batch, and two in the live lane. */
const price = { input: 2_000_000, output: 0, batch: { input: 1_000_000, output: 1_000_000 } };

export class CheapLane {
  readonly batches = new MeteredBatches();
  readonly embedder = meteredEmbedder();
  readonly bench: EngineFixture;
  readonly blobs = memoryBlobs();
  readonly pipeline: Pipeline;
  readonly #options: BatchOptions;

  constructor(bench: EngineFixture, { hasEntities = false, isPriced = true } = {}) {
    this.bench = bench;
    const { database, world } = bench.store;
    const { blobs } = this;
    this.#options = {
      ...{ database, blobs, world, onEnd: settleEnded },
      providers: new BatchProviders([this.batches.provider]),
      pollIntervalMs: 0,
      onError: (what, error) => bench.errors.push(`${what}: ${String(error)}`),
    };
    this.pipeline = documentPipeline({
      blobs,
      fetcher: { get: () => Promise.reject(new Error('nothing here is on the web')) },
      parser: parse,
      extractor,
      embedder: this.embedder,
      paidAnswers: new PaidAnswers(database, world),
      lane: {
        embeddings: {
          model: 'metered',
          price: isPriced ? price : undefined,
          encode: toSignedBytes,
        },
        entities: hasEntities ? { model: 'metered-model', price } : undefined,
      },
    });
  }

  start(more: { pipeline?: Pipeline; pid?: number } = {}): Promise<Engine> {
    return this.bench.start({}, { pipeline: this.pipeline, ...more });
  }

  submit(
    texts: Readonly<Record<string, string>>,
    more: Parameters<typeof submitTexts>[2] = {},
  ): Promise<Submitted> {
    return submitTexts(this.bench, texts, { lane: 'cheap', ...more });
  }

  /** Resolves when all open items wait for a batch. */
  untilWaiting(): Promise<void> {
    const { store, world } = this.bench;
    return world.until('the items to wait for a batch', async () => {
      const open = await store.rows<{ waits_on: string }>(
        'SELECT waits_on FROM items WHERE waits_on IS NOT NULL',
      );
      return open.length > 0 && open.every(({ waits_on }) => waits_on === 'task');
    });
  }

  /** Gathers, sends and polls lines once. */
  async deliver(): Promise<void> {
    const { signal } = new AbortController();
    await gatherLines({ ...this.#options, gatherMs: 0 });
    await submitDue(this.#options, signal);
    await reconcile(this.#options, signal);
  }

  /** Stores responses without an item. Returns for how many items. */
  async bank(): Promise<number> {
    const { banks } = this.pipeline;
    return bankLeft({ ...this.#options, banks }, new AbortController().signal);
  }

  async answer(): Promise<void> {
    await this.untilWaiting();
    await this.deliver();
  }

  /** Runs the loops of a process until the jobs have ended. */
  async finish(jobs: readonly Submitted[]): Promise<void> {
    const { store, world } = this.bench;
    for (const { key } of jobs) {
      await world.until(`${key} to succeed`, async () => {
        await this.bank();
        await this.deliver();
        return (await store.job(key)).state === 'succeeded';
      });
    }
  }

  /** The batch is sent, and stays open. */
  async answerLater(): Promise<void> {
    this.batches.isBusy = true;
    await this.answer();
  }

  async lines(): Promise<number> {
    return (await this.bench.store.rows('SELECT id FROM batch_lines')).length;
  }
}

/** Tokens of a section with its heading; each section is a chunk. */
export const sectionTokens = 7;

export function sections(...names: readonly string[]): string {
  return names.map((name) => `# ${name}\n\nThe walrus ${name} sleeps.`).join('\n\n');
}

export const five = ['Ada', 'Bea', 'Cleo', 'Dora', 'Eva'];
export const ten = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`page-${index}`, sections(`N${index}`)]),
);

/** What a job has cost, and what it saved. */
export async function costs(bench: EngineFixture, { key }: Submitted) {
  const { tokens_in, cost_cents, tokens_saved, saved_cents } = await bench.store.job(key);
  return { tokens_in, cost_cents, tokens_saved, saved_cents };
}
