/** The presets against servers that accept exactly what each vendor publishes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { fakeTokens, fakeVector } from '../../../test/support/openai-server.ts';
import { type EmbedderVendor, embedderVendors } from '../../kernel/name/embedder-vendor.ts';
import { type Embedder, embedQuery } from '../../provider/embedding/embedding.ts';
import { realWorld } from '../world.ts';
import { type EmbedderSettings, embeddersFor } from './models.ts';

interface Call {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

interface Vendor {
  readonly model: string;
  readonly path: string;
  /** The header that carries the key. */
  readonly key: readonly [name: string, value: string];
  /** The only fields that are accepted. */
  readonly fields: readonly string[];
  textsOf(body: Record<string, unknown>): readonly string[];
  /** How the request says that its texts are documents, or a query. */
  useOf(body: Record<string, unknown>): unknown;
  readonly uses: readonly [document: unknown, query: unknown];
  answer(texts: readonly string[], dimensions: number): unknown;
  dimensionsOf(body: Record<string, unknown>): unknown;
}

const bearer = ['authorization', 'Bearer a-key'] as const;
const input = (body: Record<string, unknown>) => body.input as string[];
const prefixOf = (body: Record<string, unknown>) => /^[\w| ]+: /.exec(input(body)[0] ?? '')?.[0];

function openaiAnswer(texts: readonly string[], dimensions: number) {
  const data = texts.map((text, index) => {
    return { object: 'embedding', index, embedding: [...fakeVector(text, dimensions)] };
  });
  const total = texts.reduce((sum, text) => sum + fakeTokens(text), 0);
  return { object: 'list', data, usage: { total_tokens: total } };
}

const openaiLike = {
  path: '/v1/embeddings',
  key: bearer,
  fields: ['model', 'input', 'encoding_format', 'dimensions'],
  textsOf: input,
  useOf: prefixOf,
  answer: openaiAnswer,
  dimensionsOf: (body: Record<string, unknown>) => body.dimensions,
} as const;

const vendors: Readonly<Record<EmbedderVendor, Vendor>> = {
  ollama: {
    ...openaiLike,
    model: 'nomic-embed-text',
    uses: ['search_document: ', 'search_query: '],
  },
  vllm: {
    ...openaiLike,
    model: 'intfloat/multilingual-e5-large',
    uses: ['passage: ', 'query: '],
  },
  azure: {
    ...openaiLike,
    model: 'my-deployment',
    path: '/openai/v1/embeddings',
    key: ['api-key', 'a-key'],
    useOf: () => undefined,
    uses: [undefined, undefined],
  },
  mistral: {
    ...openaiLike,
    model: 'mistral-embed',
    fields: ['model', 'input', 'output_dimension'],
    useOf: () => undefined,
    uses: [undefined, undefined],
    dimensionsOf: (body) => body.output_dimension,
  },
  voyage: {
    ...openaiLike,
    model: 'voyage-3.5',
    fields: ['model', 'input', 'input_type', 'output_dimension'],
    useOf: (body) => body.input_type,
    uses: ['document', 'query'],
    dimensionsOf: (body) => body.output_dimension,
  },
  cohere: {
    model: 'embed-v4.0',
    path: '/v1/embed',
    key: bearer,
    fields: ['model', 'texts', 'input_type', 'embedding_types', 'output_dimension'],
    textsOf: (body) => body.texts as string[],
    useOf: (body) => body.input_type,
    uses: ['search_document', 'search_query'],
    dimensionsOf: (body) => body.output_dimension,
    answer: (texts, dimensions) => ({
      id: 'one',
      texts,
      embeddings: { float: texts.map((text) => [...fakeVector(text, dimensions)]) },
      meta: { billed_units: { input_tokens: texts.length } },
    }),
  },
  gemini: {
    model: 'gemini-embedding-001',
    path: '/v1/models/gemini-embedding-001:batchEmbedContents',
    key: ['x-goog-api-key', 'a-key'],
    fields: ['requests'],
    textsOf: ({ requests }) =>
      (requests as { content: { parts: { text: string }[] } }[]).map(
        ({ content }) => content.parts[0]?.text ?? '',
      ),
    useOf: ({ requests }) => (requests as { taskType: string }[])[0]?.taskType,
    uses: ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'],
    dimensionsOf: ({ requests }) =>
      (requests as { outputDimensionality?: number }[])[0]?.outputDimensionality,
    answer: (texts, dimensions) => ({
      embeddings: texts.map((text) => ({ values: [...fakeVector(text, dimensions)] })),
    }),
  },
};

/** Refuses another path, key or field with the status that vendors use. */
async function serve(t: TestContext, vendor: Vendor) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>;
    const { url: path = '', headers } = request;
    calls.push({ path, headers, body });
    const end = (status: number, sent: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(sent));
    };
    const [name, value] = vendor.key;
    if (path !== vendor.path) return end(404, { message: `no ${path}` });
    if (headers[name] !== value) return end(401, { message: 'wrong key' });
    const strange = Object.keys(body).filter((field) => !vendor.fields.includes(field));
    if (strange.length > 0) return end(422, { message: `unknown ${strange.join()}` });
    const texts = vendor.textsOf(body);
    return end(200, vendor.answer(texts, Number(vendor.dimensionsOf(body) ?? 8)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

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
      const { calls, origin } = await serve(t, vendor);
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
      const { calls, embedder } = await setup(t, '@4');
      assert.equal(embedder.model, `${name}:${vendor.model}@4`);
      const { vectors } = await embedder.embed(['the sea'], signal);
      assert.equal(vectors[0]?.length, 8);
      assert.equal(vendor.dimensionsOf(calls[0]?.body ?? {}), 4);
    });

    test('reports a refused key', async (t) => {
      const { origin } = await serve(t, vendor);
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

test('requests stay within the limits of the vendor', async (t) => {
  const { calls, origin } = await serve(t, vendors.cohere);
  const settings = { choice: 'cohere:embed-v4.0', url: `${origin}/v1`, key: 'a-key' };
  const texts = Array.from({ length: 200 }, (_, at) => `text ${at}`);
  await opened(t, settings).embed(texts, signal);
  assert.deepEqual(
    calls.map(({ body }) => vendors.cohere.textsOf(body).length).sort((a, b) => b - a),
    [96, 96, 8],
  );
});

test("a server of one's own is free, and the price of a vendor is unknown", (t) => {
  const meterOf = (settings: EmbedderSettings) => opened(t, settings).meter;
  assert.deepEqual(meterOf({ choice: 'ollama:some' }), { centsPerMillionTokens: 0 });
  const voyage = { choice: 'voyage:voyage-3.5', key: 'a-key' };
  assert.deepEqual(meterOf(voyage), { centsPerMillionTokens: undefined });
  assert.deepEqual(meterOf({ ...voyage, centsPerMillionTokens: 6 }), { centsPerMillionTokens: 6 });
});
