/** Qdrant beside a store under failures: at each point the next run repairs it. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { toSignedBytes } from '../../src/provider/embedding/vector-bytes.ts';
import { SinkIndex } from '../../src/search/vector/sink-index.ts';
import { pointId } from '../../src/sink/qdrant.ts';
import type { VectorSink } from '../../src/sink/sink.ts';
import { flipModel, setNextModel } from '../../src/store/corpus/settings.ts';
import { appendEvents } from '../../src/store/delivery/events.ts';
import { chunkIdOf, insertVectors } from '../../src/store/document/chunks.ts';
import type { Reply } from '../support/batch/provider-server.ts';
import { realQdrant } from '../support/qdrant/qdrant-place.ts';
import { type QdrantServer, refused } from '../support/qdrant/qdrant-server.ts';
import { model, notes, SinkBench, vectorOf } from './sink/bench.ts';
import { openQdrantCase } from './sink/qdrant-case.ts';
import { vectorsSeen } from './sink/vectors-seen.ts';

const skip = realQdrant === undefined ? false : 'a real Qdrant does not fail on demand';

async function setup(t: TestContext) {
  const given = await openQdrantCase(t);
  const bench = new SinkBench(given);
  const kept = async () => (await given.kept?.()) ?? [];
  return { bench, server: given.server as QdrantServer, kept };
}

/** The same store, as seen by a process without a sink. */
function withoutSink({ case: given }: SinkBench): SinkBench {
  return new SinkBench({ ...given, sink: undefined });
}

describe('Qdrant beside a store', { skip }, () => {
  const refusals: readonly [what: string, reply: Reply, code: string, waitMs?: number][] = [
    ['429', refused(429, 'slow down'), 'rate_limited'],
    [
      '503 with a Retry-After',
      { status: 503, headers: { 'retry-after': '7' } },
      'rate_limited',
      7000,
    ],
    ['503', refused(503, 'starting'), 'qdrant_unavailable'],
    ['500', refused(500, 'panic'), 'qdrant_failed'],
    ['a page of a proxy', { status: 502, body: '<html>' }, 'qdrant_unavailable'],
    ['nonsense', { status: 200, body: '<html>' }, 'qdrant_unavailable'],
    ['400', refused(400, 'Wrong input'), 'qdrant_refused'],
    ['401', { status: 401, body: 'Must provide an API key' }, 'qdrant_refused'],
    ['a broken connection', (response) => response.destroy(), 'qdrant_unavailable'],
  ];
  for (const [what, reply, code, retryAfterMs] of refusals) {
    test(`${what} is ${code}, and the next try succeeds`, async (t) => {
      const { bench, server } = await setup(t);
      const id = await bench.make('page', ['walrus']);
      server.http.trouble({ on: /^PUT .*\/points$/, reply });
      await assert.rejects(bench.run('persisted', id), { code, retryAfterMs });
      await bench.finish(id);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), ['walrus']);
    });
  }

  test('a write that was applied although the response was lost is applied once', async (t) => {
    const { bench, server, kept } = await setup(t);
    await bench.publish('page', ['old']);
    const id = await bench.make('page', ['walrus', 'lantern']);
    const reply: Reply = (response) => response.destroy();
    for (const [step, on] of [
      ['persisted', /^PUT .*\/points$/],
      ['done', /\/points\/batch$/],
    ] as const) {
      server.http.trouble({ on, reply, isAfter: true });
      if (step === 'done') await bench.run('indexed', id);
      await assert.rejects(bench.run(step, id), { code: 'qdrant_unavailable' });
      await bench.run(step, id);
    }
    assert.deepEqual(await kept(), ['lantern', 'walrus']);
    assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
  });

  test('a collection that another process creates at the same moment is used', async (t) => {
    const { bench, server } = await setup(t);
    const id = await bench.make('page', ['walrus']);
    const reply = refused(409, 'Wrong input: Collection already exists!');
    server.http.trouble({ on: /^PUT \/collections\/[^/]+$/, reply, isAfter: true });
    await bench.finish(id);
    assert.equal(server.points.length, 1);
  });

  test('every point has its owner, and whether it is current', async (t) => {
    const { bench, server } = await setup(t);
    const id = await bench.make('page', ['walrus']);
    await bench.run('persisted', id);
    const [point] = server.points;
    assert.equal(point?.id, pointId({ generationId: id, ordinal: 0 }));
    assert.match(String(point?.id), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    const { document_id, ...payload } = point?.payload ?? {};
    const chunk_id = chunkIdOf(String(document_id), 'walrus-0');
    assert.deepEqual(payload, {
      ...{ caller: 'ann', generation: id, ordinal: 0, chunk_id, current: false },
      ...{ heading: 'on walrus', text: 'walrus', source: 'page', title: 'page', language: 'en' },
    });
    await bench.run('indexed', id);
    await bench.run('done', id);
    assert.equal(server.points[0]?.payload.current, true);
    const [collection] = server.collections.values();
    const indexed = [...(collection?.indexes.keys() ?? [])];
    assert.deepEqual(indexed, ['caller', 'document_id', 'generation', 'current']);
  });

  test('an existing store is delivered, and searched until then', async (t) => {
    const { bench, server } = await setup(t);
    const before = withoutSink(bench);
    await before.publish('page', ['walrus']);
    await before.publish('other', ['lantern']);
    assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
    assert.equal(server.http.count(/query$/), 0);
    await bench.sinkSync();
    assert.equal(server.points.length, 2);
    assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
    assert.equal(server.http.count(/query$/), 1);
    await bench.sinkSync();
    assert.equal(server.http.count(/^PUT .*\/points$/), 2, 'nothing is delivered twice');
  });

  test('what a process without the sink makes current is delivered later', async (t) => {
    const { bench } = await setup(t);
    await bench.publish('page', ['walrus']);
    await bench.sinkSync();
    await withoutSink(bench).publish('page', ['rain']);
    await bench.sinkSync();
    assert.deepEqual(await bench.seen(), ['rain']);
  });

  test('a Qdrant that has lost its content is filled again', async (t) => {
    const { bench, server, kept } = await setup(t);
    await bench.publish('page', ['walrus', 'roof']);
    await bench.publish('other', ['lantern']);
    await bench.sinkSync();
    server.collections.clear();
    assert.deepEqual(
      await bench.seen(),
      ['lantern', 'roof', 'walrus'],
      'the store is searched instead',
    );
    // Some of it is restored, so that the collection is no longer missing.
    await bench.publish('third', ['rain']);
    await bench.sinkSync();
    assert.deepEqual(await kept(), ['lantern', 'rain', 'roof', 'walrus']);
    assert.deepEqual(await bench.seen(), ['lantern', 'rain', 'roof', 'walrus']);
  });

  test('documents deleted while Qdrant is away are gone when it is back', async (t) => {
    const { bench, server, kept } = await setup(t);
    await bench.publish('page', ['walrus']);
    await bench.publish('other', ['lantern']);
    await bench.sinkSync();
    await bench.remove('page');
    server.http.trouble({ on: /batch$/, reply: refused(503, 'away'), times: 2 });
    await assert.rejects(bench.sinkSync(), { code: 'qdrant_unavailable' });
    await assert.rejects(bench.sinkSync(), { code: 'qdrant_unavailable' });
    assert.deepEqual(await bench.seen(), ['lantern'], 'and they are not visible meanwhile');
    await bench.sinkSync();
    assert.deepEqual(await kept(), ['lantern']);
  });

  test('generations that are not current displace no current ones', async (t) => {
    const { bench, server } = await setup(t);
    await bench.publish('page', ['walrus']);
    await bench.sinkSync();
    // More of them than a query returns, all nearer than the current ones.
    const [collection] = server.collections.values();
    const [current] = server.points;
    for (let index = 0; index < limits.search.candidatesMax + 10; index += 1) {
      const payload = { ...current?.payload, generation: 1_000_000 + (index % 3) };
      const vector = [1, 0, 0, 0, 0, 0, 0, 0];
      collection?.points.set(`late-${index}`, { id: `late-${index}`, vector, payload });
    }
    assert.deepEqual(await bench.seen(), ['walrus']);
  });

  test('a document that is replaced after the query is found in its new version', async (t) => {
    const { bench } = await setup(t);
    const { sink } = bench.case;
    await bench.publish('page', ['walrus']);
    await bench.sinkSync();
    let isAsked = false;
    const nearest: VectorSink['nearest'] = async (...asked) => {
      const answer = await (sink as VectorSink).nearest(...asked);
      // Qdrant has answered, and the store has not been queried yet.
      if (!isAsked) {
        isAsked = true;
        await bench.publish('page', ['rain']);
      }
      return answer;
    };
    const { database } = bench.store;
    const otherwise = { search: () => Promise.reject(new Error('the sink is filled')) };
    const slow = { name: 'qdrant', nearest } as VectorSink;
    const index = new SinkIndex({ database, sink: slow, otherwise });
    assert.deepEqual(await vectorsSeen({ database, index, turnsMax: 1 }, notes), ['rain']);
  });

  test('a corpus with another model has another collection; the old one is removed', async (t) => {
    const { bench, server } = await setup(t);
    const id = await bench.publish('page', ['walrus']);
    await bench.sinkSync();
    const turned = { ...notes, model: 'other' };
    await bench.store.database.write(async (transaction) => {
      await setNextModel(transaction, turned);
      const vector = toSignedBytes(vectorOf('walrus').slice(0, 4));
      await insertVectors(transaction, id, [{ ordinal: 0, model: 'other', vector }]);
      await flipModel(transaction, turned);
      const detail = { corpus: notes.corpus, from: model, to: 'other' };
      const event = { kind: 'corpus_reembedded', jobId: null, detail } as const;
      await appendEvents(transaction, [event], bench.store.world.now());
    });
    await bench.sinkSync();
    const names = [...server.collections.keys()].map((name) => name.split('~').slice(1).join(' '));
    assert.deepEqual(names, ['notes other']);
    assert.equal(server.points.length, 1);
  });
});
