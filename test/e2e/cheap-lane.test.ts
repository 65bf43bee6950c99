/** The cheap lane, from a submission to a search: entities from a provider batch. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { type IngestOptions, type Job, open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { fromSignedBytes } from '../../src/provider/embedding/vector-bytes.ts';
import { countWithoutCause } from '../../src/store/item/items.ts';
import { type LineOutcome, OpenaiServer } from '../support/batch/openai-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const cheap: IngestOptions = { corpus: 'notes', lane: 'cheap' };

const entities = (name: string): LineOutcome => ({
  content: JSON.stringify({ entities: [{ name, kind: 'person', mentions: [name] }] }),
});

interface Place {
  readonly waits_on: string;
  readonly worker: string | null;
}

const placesIn = (pawl: Pawl): Promise<Place[]> =>
  sessionOf(pawl).store.run<Place>({ text: 'SELECT waits_on, worker FROM items' });

/** Longer than any test: requests are gathered when the test moves the clock. */
const gatherMs = 60 * 60 * 1000;

async function setup(t: Cleanup) {
  const server = new OpenaiServer();
  server.pollsToGo = 1;
  await server.start(t);
  let aheadMs = 0;
  const pawl = await open({
    data: temporaryDirectory(t),
    world: { ...realWorld(), now: () => Date.now() + aheadMs },
    extractor: { model: 'gpt-4o-mini', url: server.url, key: 'key' },
    batchProviders: { openai: { url: server.url, key: 'key' } },
    batchPollMs: 50,
    batchGatherMs: gatherMs,
  });
  t.after(() => pawl.close());
  const gather = (): void => {
    aheadMs += gatherMs;
  };
  /** Starts a job, and gathers its requests when all documents wait for them. */
  const ingest = async (names: readonly string[]): Promise<Job> => {
    const job = await pawl.ingest(documents(names), cheap);
    const areWaiting = async (): Promise<boolean> => {
      const places = await placesIn(pawl);
      return places.length > 0 && places.every(({ waits_on }) => waits_on === 'task');
    };
    await until(areWaiting, { what: 'all documents to wait for the batch' });
    gather();
    return job;
  };
  return { server, pawl, ingest, gather };
}

const documents = (names: readonly string[]) =>
  names.map((name) => ({ text: `${name} repaired the bridge in spring.`, id: name }));

describe('the cheap lane', () => {
  test('sends the requests as one batch, and each document gets its own response', async (t) => {
    const { server, pawl, ingest } = await setup(t);
    server.pollsToGo = Number.POSITIVE_INFINITY;
    server.answer = (line) => {
      const text = JSON.stringify(line.body);
      return entities(/Ada|Grace|Joan/.exec(text)?.[0] ?? '');
    };
    const job = await ingest(['Ada', 'Grace', 'Joan']);
    await until(() => server.batches.size > 0, { what: 'the batch' });
    const waiting = await placesIn(pawl);
    assert.deepEqual(new Set(waiting.map((row) => row.waits_on)), new Set(['task']));
    assert.deepEqual(new Set(waiting.map((row) => row.worker)), new Set([null]));
    assert.equal(await countWithoutCause(sessionOf(pawl).store), 0);
    server.pollsToGo = 3;
    await until(async () => (await job.summary()).state === 'succeeded', {
      what: 'the job to end',
    });
    const named = await pawl.entities('notes', { kind: 'person' }).all();
    assert.deepEqual(named.map(({ name }) => name).sort(), ['Ada', 'Grace', 'Joan']);
    assert.equal(server.batches.size, 1);
    assert.equal(server.server.count(/chat\/completions/), 0);
    const { tokens } = await job.summary();
    assert.deepEqual(tokens, { in: 300, out: 60 });
    const left = await sessionOf(pawl).store.run({ text: 'SELECT id FROM batch_lines' });
    assert.equal(left.length, 0);
    await pawl.close();
  });

  test('a failed line fails only its document', async (t) => {
    const { server, pawl, ingest } = await setup(t);
    server.answer = (line) =>
      JSON.stringify(line.body).includes('Grace')
        ? { status: 400, message: 'blocked' }
        : entities('Ada');
    const job = await ingest(['Ada', 'Grace']);
    await until(async () => (await job.summary()).endedAt !== null, {
      what: 'the job to end',
    });
    const { itemsDone, itemsFailed, partial } = await job.summary();
    assert.deepEqual([itemsDone, itemsFailed, partial], [1, 1, true]);
    const [failed] = await pawl.inbox().all();
    assert.match(failed?.error?.message ?? '', /blocked/);
    assert.equal(failed?.error?.code, 'provider_rejected');
    await pawl.close();
  });

  test('requests that a batch did not finish in time are sent once more', async (t) => {
    const { server, pawl, ingest, gather } = await setup(t);
    const tries = new Map<string, number>();
    server.lastStatus = 'expired';
    server.answer = (line) => {
      const [name = ''] = /Ada|Grace|Joan/.exec(JSON.stringify(line.body)) ?? [];
      tries.set(name, server.batches.size);
      if (name === 'Ada' || (name === 'Grace' && server.batches.size > 1)) return entities(name);
      return 'expired';
    };
    const job = await ingest(['Ada', 'Grace', 'Joan']);
    const left = { text: 'SELECT id FROM batch_lines WHERE task_id IS NULL' };
    const areLeft = async () => (await sessionOf(pawl).store.run(left)).length === 2;
    await until(areLeft, { what: 'the unfinished requests to be free' });
    gather();
    await until(async () => (await job.summary()).endedAt !== null, {
      what: 'the job to end',
    });
    const { itemsDone, itemsFailed } = await job.summary();
    assert.deepEqual([itemsDone, itemsFailed], [2, 1]);
    // The first with all three, then two halves of the rest.
    assert.equal(server.batches.size, 3);
    await pawl.close();
  });

  test('texts are embedded by a batch, with their cost and the live price', async (t) => {
    const server = new OpenaiServer();
    await server.start(t);
    const model = 'text-embedding-3-small';
    const pawl = await open({
      data: temporaryDirectory(t),
      embedder: { choice: `openai:${model}`, url: server.url, centsPerMillionTokens: 2_000_000 },
      batchProviders: { openai: { url: server.url, key: 'key' } },
      batchPollMs: 50,
      batchGatherMs: 0,
    });
    t.after(() => pawl.close());
    const job = await pawl.ingest(documents(['Ada', 'Grace']), cheap);
    await until(async () => (await job.summary()).endedAt !== null, {
      what: 'the job to end',
    });
    const vectors = await sessionOf(pawl).store.run<{ model: string; vector: Uint8Array }>({
      text: 'SELECT model, vector FROM vectors',
    });
    const shares = (vector: Uint8Array) =>
      [...fromSignedBytes(vector)].map((value, _, all) => (value / Math.max(...all)).toFixed(2));
    assert.deepEqual(
      vectors.map(({ model, vector }) => [model, ...shares(vector)]),
      [1, 2].map(() => [model, '0.33', '-0.67', '1.00']),
    );
    const { state, costCents } = await job.summary();
    assert.deepEqual([state, costCents], ['succeeded', 200]);
    const normal: unknown[] = [];
    for await (const { kind, step, detail } of job.history()) {
      if (kind === 'step_completed' && step === 'embedded') normal.push(detail?.normal_cost_cents);
    }
    assert.deepEqual(normal, [200, 200]);
    await pawl.close();
  });

  test('without the lane, the model is called live', async (t) => {
    const { server, pawl } = await setup(t);
    const job = await pawl.ingest(documents(['Ada']), { corpus: 'notes' });
    await until(
      async () => (await job.summary()).endedAt !== null || server.server.calls.length > 0,
      {
        what: 'the model to be called',
      },
    );
    assert.equal(server.batches.size, 0);
    assert.ok(server.server.count(/chat\/completions/) > 0);
    await pawl.close();
  });
});
