import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { differences, textsAgain } from './crash.ts';
import { embeddingModel, type PaidEmbedder, startPaidEmbedder } from './embedder.ts';

describe('what a crash left behind', () => {
  const whole = [
    { page: 'a.html', text: 'one' },
    { page: 'a.html', text: 'one' },
    { page: 'b.html', text: 'two' },
    { page: 'c.html', text: 'three' },
  ];

  test('nothing, if every text is there as often', () => {
    assert.deepEqual(differences(whole, whole.toReversed()), { lost: 0, doubled: 0 });
  });

  test('a page that lacks one of its texts, and a page with one more', () => {
    const resumed = [...whole.slice(1), { page: 'c.html', text: 'three' }];
    assert.deepEqual(differences(whole, resumed), { lost: 1, doubled: 1 });
  });

  test('the same text on another page does not stand in', () => {
    const resumed = [...whole.slice(0, 3), { page: 'b.html', text: 'three' }];
    assert.deepEqual(differences(whole, resumed), { lost: 1, doubled: 1 });
  });

  test('texts that are the same on several pages are not paid twice', () => {
    const bill = (times: Record<string, number>) => {
      const timesPaid = new Map(Object.entries(times));
      return {
        calls: 1,
        texts: [...timesPaid.values()].reduce((sum, each) => sum + each),
        timesPaid,
      };
    };
    assert.equal(textsAgain(bill({ one: 2, two: 1 }), bill({ one: 2, two: 1 })), 0);
    assert.equal(textsAgain(bill({ one: 2, two: 1 }), bill({ one: 1, two: 4 })), 3);
  });
});

describe('the paid embedder', () => {
  let embedder: PaidEmbedder;
  before(async () => {
    embedder = await startPaidEmbedder(0);
  });
  after(() => embedder.close());

  const ask = (body: object, headers: Record<string, string> = { authorization: 'Bearer k' }) =>
    fetch(`${embedder.url}/embeddings`, { method: 'POST', headers, body: JSON.stringify(body) });

  test('counts what it answered, and answers the same text the same way', async () => {
    embedder.reset();
    const input = ['one', 'two', 'one'];
    const answer = await ask({ model: embeddingModel, input });
    const { data } = (await answer.json()) as { data: { embedding: number[] }[] };
    assert.deepEqual(data[0]?.embedding, data[2]?.embedding);
    assert.notDeepEqual(data[0]?.embedding, data[1]?.embedding);
    const { calls, texts, timesPaid } = embedder.bill();
    assert.deepEqual({ calls, texts, one: timesPaid.get('one') }, { calls: 1, texts: 3, one: 2 });
  });

  test('returns the same numbers as text and as bytes', async () => {
    const of = async (encoding_format: string): Promise<unknown> => {
      const answer = await ask({
        model: embeddingModel,
        input: 'one',
        dimensions: 4,
        encoding_format,
      });
      return ((await answer.json()) as { data: { embedding: unknown }[] }).data[0]?.embedding;
    };
    const bytes = Buffer.from(String(await of('base64')), 'base64');
    const floats = Array.from({ length: 4 }, (_, at) => bytes.readFloatLE(4 * at));
    assert.deepEqual(await of('float'), floats);
  });

  test('refuses, and does not charge, what the vendor refuses', async () => {
    embedder.reset();
    const statuses = [
      (await ask({ model: embeddingModel, input: ['one'] }, {})).status,
      (await ask({ model: 'another', input: ['one'] })).status,
      (await ask({ model: embeddingModel, input: [] })).status,
      (await ask({ model: embeddingModel, input: [''] })).status,
      (await fetch(`${embedder.url}/models`)).status,
    ];
    assert.deepEqual(statuses, [400, 400, 400, 400, 404]);
    assert.equal(embedder.bill().calls, 0);
  });
});
