/**
 * A server with the embedding interface of a vendor, in this process. It refuses a request that the
 * vendor's own packages do not describe (`docs/verified.md`): other fields, other values, more
 * texts than the vendor accepts.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbedderVendor } from '../../src/kernel/name/embedder-vendor.ts';
import { fakeTokens, fakeVector } from './openai-server.ts';
import type { Cleanup } from './temporary.ts';

type Body = Readonly<Record<string, unknown>>;

export interface VendorCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  readonly status: number;
}

export interface Vendor {
  readonly model: string;
  path(model: string): string;
  /** The header that carries the key. */
  readonly key: readonly [name: string, value: string];
  /** The fields of a request, and the values that each may have. */
  readonly fields: Readonly<Record<string, (value: unknown, body: Body) => boolean>>;
  readonly needed: readonly string[];
  readonly inputsMax?: number | undefined;
  /** The only numbers of dimensions, if the vendor names them. */
  readonly sizes?: readonly number[] | undefined;
  textsOf(body: Body): readonly string[];
  /** How the request says that its texts are documents, or a query. */
  useOf(body: Body): unknown;
  readonly uses: readonly [document: unknown, query: unknown];
  answer(body: Body, vectors: readonly Float32Array[], tokens: number): unknown;
  dimensionsOf(body: Body): unknown;
  /** How the vendor says what is wrong, and with which status. */
  refusal(what: string): readonly [status: number, body: unknown];
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTexts = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isText);
const isSize = (value: unknown) => Number.isInteger(value) && Number(value) > 0;
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);

const bearer = ['authorization', 'Bearer a-key'] as const;
const input = (body: Body) => body.input as string[];
const prefixOf = (body: Body) => /^[\w| ]+: /.exec(input(body)[0] ?? '')?.[0];

/** Vectors as base64 are 32-bit floats. */
function rowsOf(vectors: readonly Float32Array[], isBase64: boolean) {
  return vectors.map((vector, index) => {
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
}

const openaiLike = {
  path: () => '/v1/embeddings',
  key: bearer,
  fields: {
    model: isText,
    input: isTexts,
    encoding_format: oneOf('float', 'base64'),
    dimensions: isSize,
  },
  needed: ['model', 'input'],
  textsOf: input,
  useOf: prefixOf,
  answer: ({ model, encoding_format: format }: Body, vectors: readonly Float32Array[], tokens) => {
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return { object: 'list', data: rowsOf(vectors, format === 'base64'), model, usage };
  },
  dimensionsOf: (body: Body) => body.dimensions,
  refusal: (message: string) => [
    400,
    { error: { message, type: 'invalid_request_error', param: null, code: null } },
  ],
} satisfies Partial<Vendor>;

const untold = { useOf: () => undefined, uses: [undefined, undefined] as const };

export const vendors: Readonly<Record<EmbedderVendor, Vendor>> = {
  ollama: {
    ...openaiLike,
    model: 'nomic-embed-text',
    uses: ['search_document: ', 'search_query: '],
  },
  vllm: { ...openaiLike, model: 'intfloat/multilingual-e5-large', uses: ['passage: ', 'query: '] },
  azure: {
    ...openaiLike,
    ...untold,
    model: 'my-deployment',
    path: () => '/openai/v1/embeddings',
    key: ['api-key', 'a-key'],
    inputsMax: 2048,
  },
  mistral: {
    ...openaiLike,
    ...untold,
    model: 'mistral-embed',
    fields: {
      model: isText,
      input: isTexts,
      output_dimension: isSize,
      output_dtype: oneOf('float', 'int8', 'uint8', 'binary', 'ubinary'),
      encoding_format: oneOf('float', 'base64'),
      metadata: (value) => value instanceof Object,
    },
    inputsMax: 512,
    dimensionsOf: (body) => body.output_dimension,
    answer: (body, vectors, tokens) => ({
      id: 'one',
      ...(openaiLike.answer(body, vectors, tokens) as object),
      usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    }),
    refusal: (msg) => [422, { detail: [{ type: 'value_error', loc: ['body'], msg, input: '…' }] }],
  },
  voyage: {
    ...openaiLike,
    model: 'voyage-3.5',
    fields: {
      model: isText,
      input: isTexts,
      input_type: oneOf('query', 'document'),
      truncation: oneOf(true, false),
      output_dimension: isSize,
      output_dtype: oneOf('float', 'int8', 'uint8', 'binary', 'ubinary'),
      encoding_format: oneOf('base64'),
    },
    inputsMax: 128,
    useOf: (body) => body.input_type,
    uses: ['document', 'query'],
    dimensionsOf: (body) => body.output_dimension,
    answer: ({ model, encoding_format: format }, vectors, tokens) => {
      const data = rowsOf(vectors, format === 'base64');
      return { object: 'list', data, model, usage: { total_tokens: tokens } };
    },
    refusal: (detail) => [400, { detail }],
  },
  cohere: {
    model: 'embed-v4.0',
    path: () => '/v1/embed',
    key: bearer,
    fields: {
      model: isText,
      texts: isTexts,
      input_type: oneOf('search_document', 'search_query', 'classification', 'clustering', 'image'),
      embedding_types: (value) =>
        isTexts(value) &&
        (value as string[]).every(oneOf('float', 'int8', 'uint8', 'binary', 'ubinary', 'base64')),
      // Models before the fourth have one size.
      output_dimension: (value, { model }) =>
        oneOf(256, 512, 1024, 1536)(value) && !/-v[23]/.test(String(model)),
      max_tokens: isSize,
      truncate: oneOf('NONE', 'START', 'END'),
      priority: Number.isInteger,
    },
    needed: ['model', 'texts', 'input_type'],
    inputsMax: 96,
    sizes: [256, 512, 1024, 1536],
    textsOf: (body) => body.texts as string[],
    useOf: (body) => body.input_type,
    uses: ['search_document', 'search_query'],
    dimensionsOf: (body) => body.output_dimension,
    answer: ({ texts }, vectors, tokens) => ({
      response_type: 'embeddings_by_type',
      id: 'one',
      texts,
      embeddings: { float: vectors.map((vector) => [...vector]) },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokens } },
    }),
    refusal: (message) => [400, { id: 'one', message }],
  },
  gemini: {
    model: 'gemini-embedding-001',
    path: (model) => `/v1/models/${model}:batchEmbedContents`,
    key: ['x-goog-api-key', 'a-key'],
    fields: { requests: (value) => Array.isArray(value) && value.every(isGeminiRequest) },
    needed: ['requests'],
    inputsMax: 100,
    textsOf: ({ requests }) =>
      (requests as GeminiRequest[]).map(({ content }) => content.parts[0]?.text ?? ''),
    useOf: ({ requests }) => (requests as GeminiRequest[])[0]?.taskType,
    uses: ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'],
    dimensionsOf: ({ requests }) => (requests as GeminiRequest[])[0]?.outputDimensionality,
    answer: (_, vectors) => ({ embeddings: vectors.map((vector) => ({ values: [...vector] })) }),
    refusal: (message) => [400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  },
};

interface GeminiRequest {
  readonly model: string;
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly taskType?: string;
  readonly outputDimensionality?: number;
}

const geminiFields = ['model', 'content', 'taskType', 'title', 'outputDimensionality'];
const geminiTasks = oneOf(
  ...['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY', 'CLASSIFICATION'],
  ...['CLUSTERING', 'QUESTION_ANSWERING', 'FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY'],
);

function isGeminiRequest(request: GeminiRequest): boolean {
  const { model, content, taskType, outputDimensionality: size } = request;
  const isSecond = model.includes('gemini-embedding-2');
  return (
    Object.keys(request).every((name) => geminiFields.includes(name)) &&
    /^models\/[\w.-]+$/.test(model) &&
    isTexts(content.parts.map(({ text }) => text)) &&
    (taskType === undefined || (!isSecond && geminiTasks(taskType))) &&
    (size === undefined || isSize(size))
  );
}

/** What the vendor refuses in a request, if anything. */
function wrongIn(vendor: Vendor, body: Body): string | undefined {
  const { fields, needed, inputsMax = Number.POSITIVE_INFINITY } = vendor;
  const missing = needed.find((name) => body[name] === undefined);
  if (missing) return `${missing} is missing`;
  for (const [name, value] of Object.entries(body)) {
    const isValid = fields[name];
    if (!isValid) return `there is no field ${name}`;
    if (!isValid(value, body)) return `${name} is ${JSON.stringify(value)}`;
  }
  const { length } = vendor.textsOf(body);
  return length > inputsMax ? `${length} texts of at most ${inputsMax}` : undefined;
}

export async function startVendorServer(t: Cleanup, vendor: Vendor) {
  const calls: VendorCall[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { url: path = '', headers } = request;
    const [status, sent] = answerTo(vendor, { path, headers, body });
    calls.push({ path, headers, body, status });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(sent));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function answerTo(
  vendor: Vendor,
  { path, headers, body }: Omit<VendorCall, 'status'>,
): readonly [status: number, body: unknown] {
  const [name, value] = vendor.key;
  const paths = [vendor.path(vendor.model), vendor.path('gemini-embedding-2')];
  if (!paths.includes(path)) return [404, { message: `no ${path}` }];
  if (headers[name] !== value) return [401, { message: 'wrong key' }];
  const wrong = wrongIn(vendor, body);
  if (wrong !== undefined) return vendor.refusal(wrong);
  const texts = vendor.textsOf(body);
  const size = Number(vendor.dimensionsOf(body) ?? 8);
  const tokens = texts.reduce((sum, text) => sum + fakeTokens(text), 0);
  const vectors = texts.map((text) => fakeVector(text, size));
  return [200, vendor.answer(body, vectors, tokens)];
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}
