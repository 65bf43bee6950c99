/** Documents processed by services, in a corpus with a recorded model address. */
import assert from 'node:assert/strict';
import { HandoffBroker } from '../../../src/handoff/orchestrator/broker.ts';
import { Callbacks } from '../../../src/handoff/orchestrator/callbacks.ts';
import { handoffPipeline } from '../../../src/handoff/orchestrator/pipeline.ts';
import { payloadsBy } from '../../../src/handoff/payload.ts';
import type { Json } from '../../../src/handoff/request.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import { staticEmbedder } from '../../../src/provider/embedding/static-embedder.ts';
import { recordOrigin } from '../../../src/store/corpus/origins.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { HandQueue } from '../../support/hand-queue.ts';
import type { Submitted } from '../../support/store-fixture.ts';
import { submitTexts } from './money.ts';

/** An orchestrator without a model for entities, with the test as its services. */
async function setup(bench: EngineFixture) {
  const { store, world } = bench;
  const { database } = store;
  const queue = new HandQueue('embed_jobs');
  const broker = new HandoffBroker({
    ...{ database, world, liveness: store.liveness, payloads: payloadsBy() },
    queues: { scrape_jobs: new HandQueue('scrape_jobs'), embed_jobs: queue },
    onError: (what, error) => bench.errors.push(`${what}: ${String(error)}`),
  });
  broker.start();
  store.onRelease(() => broker.stop());
  const embedder = staticEmbedder();
  const documents = documentPipeline({
    blobs: { put: async () => 'unused', get: async () => new Uint8Array() },
    fetcher: { get: () => Promise.reject(new Error('nothing here is on the web')) },
    parser: parse,
    embedder,
  });
  const isHere = () => true;
  const pipeline = handoffPipeline({ documents, broker, embedder, parser: parse, isHere });
  const engine = await bench.start({}, { pipeline });
  const callbacks = new Callbacks({ database, world, broker });
  /** Answers like a third-party worker, when the request exists. */
  const answer = async (job: Submitted, kind: string, value: Json): Promise<void> => {
    const isAsked = () => queue.added.some((message) => message.kind === kind);
    await world.until(kind, isAsked);
    const told = await callbacks.complete(job.key, { stage: 'embedding', value });
    assert.deepEqual(told, { status: 'done' });
  };
  return { engine, queue, answer };
}

const vectors = { embeddings: [[0.5, 1]] };
const names = { entities: [{ kind: 'person', name: 'Ada Lovelace' }] };
const corpus = { caller: 'ann', corpus: 'notes' } as const;

export const handoffModelTests: readonly EngineTest[] = [
  [
    'a text passes through services that answer like POST /embed',
    async (bench) => {
      const { answer } = await setup(bench);
      const job = await submitTexts(bench, { page: 'Ada Lovelace met a walrus.' });
      await answer(job, 'embed', vectors);
      await answer(job, 'entities', names);
      await bench.untilJob(job, 'succeeded');
      const found = await bench.store.rows<{ name: string }>('SELECT name FROM entities');
      assert.deepEqual(
        found.map(({ name }) => name),
        ['Ada Lovelace'],
      );
    },
  ],
  [
    'an orchestrator without a model waits if a corpus has one, and says what to set',
    async (bench) => {
      const { engine, queue, answer } = await setup(bench);
      const url = 'https://models.example/v1';
      await bench.store.database.write((transaction) =>
        recordOrigin(transaction, { ...corpus, use: 'entities', url }),
      );
      const job = await submitTexts(bench, { page: 'Ada Lovelace met a walrus.' });
      await answer(job, 'embed', vectors);
      await bench.untilStory('retry_scheduled entity_extracted');
      const failed = (await bench.store.events()).find(({ kind }) => kind === 'step_failed');
      assert.match(
        String(failed?.detail?.message),
        /from a model at https:\/\/models\.example\/v1, .* set PAWL_EXTRACTOR and PAWL_EXTRA/,
      );
      const { waits_on, attempt } = await bench.store.item(job.ids[0]);
      assert.deepEqual([waits_on, attempt], ['time', 0]);
      assert.ok(!queue.added.some(({ kind }) => kind === 'entities'), 'rules were not used');
      // A person accepts the configuration of this process.
      const none = { embedderOrigin: () => undefined, extractorOrigin: undefined };
      await engine.commands.acceptOrigins(corpus, none);
      await answer(job, 'entities', names);
      await bench.untilJob(job, 'succeeded');
    },
  ],
];
