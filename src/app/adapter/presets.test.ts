/** The presets against servers that accept exactly what each vendor publishes. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startVendorServer, vendors } from '../../../test/support/embedding-vendors.ts';
import { embedderVendors } from '../../kernel/name/embedder-vendor.ts';
import { type Embedder, embedQuery } from '../../provider/embedding/embedding.ts';
import { realWorld } from '../world.ts';
import { type EmbedderSettings, embeddersFor } from './models.ts';

function opened(t: TestContext, settings: EmbedderSettings): Embedder {
  const embedders = embeddersFor(settings, realWorld());
  t.after(() => embedders.close());
  return embedders.embedder;
}

const signal = new AbortController().signal;

for (const name of embedderVendors) {
  const vendor = vendors[name];
  describe(`the preset ${name}`, () => {
    async function setup(t: TestContext, size = '') {
      const { calls, origin } = await startVendorServer(t, vendor);
      const url = name === 'azure' ? origin : `${origin}/v1`;
      const choice = `${name}:${vendor.model}${size}`;
      return { calls, embedder: opened(t, { choice, url, key: 'a-key' }) };
    }

    test('asks as its vendor publishes, and tells queries from documents', async (t) => {
      const { calls, embedder } = await setup(t);
      assert.equal(embedder.model, `${name}:${vendor.model}`);
      const documents = await embedder.embed(['the sea', 'the moon'], signal);
      const query = await embedQuery(embedder, 'the sea', signal);
      assert.deepEqual(
        calls.map(({ body }) => vendor.useOf(body)),
        vendor.uses,
      );
      assert.equal(documents.vectors.length, 2);
      assert.equal(query.vectors[0]?.length, 16);
      const isSame = Buffer.compare(
        query.vectors[0] as Uint8Array,
        documents.vectors[0] as Uint8Array,
      );
      const hasPrompt = typeof vendor.uses[0] === 'string' && vendor.uses[0].endsWith(': ');
      assert.equal(isSame === 0, !hasPrompt);
    });

    test('asks for the number of dimensions that is chosen', async (t) => {
      const size = vendor.sizes?.[0] ?? 4;
      const { calls, embedder } = await setup(t, `@${size}`);
      assert.equal(embedder.model, `${name}:${vendor.model}@${size}`);
      const { vectors } = await embedder.embed(['the sea'], signal);
      assert.equal(vectors[0]?.length, size * 2);
      assert.equal(vendor.dimensionsOf(calls[0]?.body ?? {}), size);
    });

    test('reports a refused key', async (t) => {
      const { origin } = await startVendorServer(t, vendor);
      const url = name === 'azure' ? origin : `${origin}/v1`;
      const embedder = opened(t, { choice: `${name}:${vendor.model}`, url, key: 'another' });
      await assert.rejects(embedder.embed(['the sea'], signal), { code: 'provider_auth' });
    });
  });
}

test('a vendor without a key, and Azure without an address, are refused at the start', () => {
  for (const [choice, variable] of [
    ['voyage:voyage-3.5', 'VOYAGE_API_KEY'],
    ['cohere:embed-v4.0', 'CO_API_KEY'],
    ['gemini:gemini-embedding-001', 'GEMINI_API_KEY'],
    ['mistral:mistral-embed', 'MISTRAL_API_KEY'],
  ] as const) {
    assert.throws(() => embeddersFor({ choice }, realWorld()), {
      code: 'usage_error',
      message: `${choice} needs a key: set PAWL_EMBEDDER_KEY or ${variable}`,
    });
  }
  assert.throws(() => embeddersFor({ choice: 'azure:large', key: 'a-key' }, realWorld()), {
    message: /set PAWL_EMBEDDER_URL=https:\/\/RESOURCE\.openai\.azure\.com/,
  });
  assert.throws(() => embeddersFor({ choice: 'openai:some' }, realWorld()), /needs a key/);
});

for (const name of embedderVendors) {
  const { inputsMax } = vendors[name];
  if (inputsMax === undefined) continue;
  test(`requests have no more texts than ${name} accepts`, async (t) => {
    const { calls, origin } = await startVendorServer(t, vendors[name]);
    const url = name === 'azure' ? origin : `${origin}/v1`;
    const settings = { choice: `${name}:${vendors[name].model}`, url, key: 'a-key' };
    const texts = Array.from({ length: inputsMax * 2 + 8 }, (_, at) => `text ${at}`);
    const { vectors } = await opened(t, settings).embed(texts, signal);
    assert.equal(vectors.length, texts.length);
    assert.ok(calls.every(({ status }) => status === 200));
  });
}

test('the second model of Gemini reads the task from a prompt', async (t) => {
  const { calls, origin } = await startVendorServer(t, vendors.gemini);
  const settings = { choice: 'gemini:gemini-embedding-2', url: `${origin}/v1`, key: 'a-key' };
  const embedder = opened(t, settings);
  await embedder.embed(['the sea'], signal);
  await embedQuery(embedder, 'the sea', signal);
  assert.deepEqual(
    calls.map(({ body }) => vendors.gemini.textsOf(body)[0]),
    ['title: none | text: the sea', 'task: search result | query: the sea'],
  );
});

test('a refused request is reported with the words of the vendor', async (t) => {
  const { origin } = await startVendorServer(t, vendors.cohere);
  const settings = { choice: 'cohere:embed-v4.0@7', url: `${origin}/v1`, key: 'a-key' };
  await assert.rejects(opened(t, settings).embed(['the sea'], signal), {
    code: 'provider_bad_request',
    message: /answered 400 for embed-v4\.0: output_dimension is 7/,
  });
});

test("a server of one's own is free, and the price of a vendor is unknown", (t) => {
  const meterOf = (settings: EmbedderSettings) => opened(t, settings).meter;
  assert.deepEqual(meterOf({ choice: 'ollama:some' }), { centsPerMillionTokens: 0 });
  const voyage = { choice: 'voyage:voyage-3.5', key: 'a-key' };
  assert.deepEqual(meterOf(voyage), { centsPerMillionTokens: undefined });
  assert.deepEqual(meterOf({ ...voyage, centsPerMillionTokens: 6 }), { centsPerMillionTokens: 6 });
});
