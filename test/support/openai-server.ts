/**
 * A metered server with OpenAI's embeddings interface, in this process, on a free port of
 * 127.0.0.1. Its vectors follow from the texts alone. It records its requests, and a test may set
 * its responses.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Cleanup } from './temporary.ts';

export interface EmbeddingRequest {
  readonly texts: readonly string[];
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly authorization: string | undefined;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body; that of a valid response if absent. */
  readonly body?: unknown;
}

export type Script = (
  request: EmbeddingRequest,
  index: number,
) => ScriptedAnswer | undefined | 'hang up' | Promise<ScriptedAnswer | undefined | 'hang up'>;

export interface OpenaiServer {
  readonly url: string;
  readonly requests: readonly EmbeddingRequest[];
  /** Every text that was answered successfully, each time it was. */
  readonly answered: readonly string[];
  script: Script;
  close(): Promise<void>;
}

export const fakeDimensions = 8;

export async function startOpenaiServer(t?: Cleanup): Promise<OpenaiServer> {
  const requests: EmbeddingRequest[] = [];
  const answered: string[] = [];
  const state: { script: Script } = { script: () => undefined };
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(incoming);
    const wrong = wrongIn(incoming, body);
    if (wrong !== undefined) {
      const error = { message: wrong, type: 'invalid_request_error', param: null, code: null };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
      return;
    }
    const request = requestOf(incoming, body);
    const index = requests.push(request) - 1;
    const scripted = await state.script(request, index);
    if (scripted === 'hang up') {
      response.destroy();
      return;
    }
    const { status = 200, headers = {}, body: sentBody } = scripted ?? {};
    if (status === 200) answered.push(...request.texts);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    const sent = sentBody ?? goodBody(request);
    response.end(typeof sent === 'string' ? sent : JSON.stringify(sent));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  t?.after(close);
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    answered,
    get script() {
      return state.script;
    },
    set script(script: Script) {
      state.script = script;
    },
    close,
  };
}

type Body = Readonly<Record<string, unknown>>;

async function readBody(incoming: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

const fields = ['model', 'input', 'encoding_format', 'dimensions'];
const inputsMax = 2048;

/** What OpenAI's package does not describe. */
function wrongIn({ method, url }: IncomingMessage, body: Body): string | undefined {
  if (method !== 'POST' || url !== '/v1/embeddings') return `${method} ${url}`;
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown) return `there is no field ${unknown}`;
  const { model, input, encoding_format: format = 'float', dimensions = 1 } = body;
  if (typeof model !== 'string' || model === '') return 'model is missing';
  const isList = Array.isArray(input) && input.length > 0 && input.length <= inputsMax;
  if (!isList || !input.every((text) => typeof text === 'string' && text !== ''))
    return 'input is no list of texts';
  if (format !== 'float' && format !== 'base64') return `encoding_format is ${String(format)}`;
  return Number.isInteger(dimensions) ? undefined : `dimensions is ${String(dimensions)}`;
}

function requestOf(incoming: IncomingMessage, body: Body): EmbeddingRequest {
  return {
    texts: body.input as string[],
    model: String(body.model),
    dimensions: body.dimensions as number | undefined,
    authorization: incoming.headers.authorization,
  };
}

/** One token per word. */
export function fakeTokens(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

export function fakeVector(text: string, dimensions = fakeDimensions): Float32Array {
  const bytes = createHash('sha512').update(text).digest();
  return Float32Array.from(
    { length: dimensions },
    (_, place) => (bytes[place % bytes.length] ?? 0) / 128 - 1,
  );
}

export function goodBody({ texts, dimensions, model }: EmbeddingRequest) {
  const tokens = texts.reduce((sum, text) => sum + fakeTokens(text), 0);
  return {
    object: 'list',
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    // Out of order: only the index counts.
    data: texts
      .map((text, index) => {
        const { buffer } = fakeVector(text, dimensions);
        return { object: 'embedding', index, embedding: Buffer.from(buffer).toString('base64') };
      })
      .reverse(),
  };
}
