/**
 * The paid service of the comparison: OpenAI's embeddings interface on 127.0.0.1. Every answer
 * takes the same time, and every text that was answered is counted: each would have been paid.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { chanceFrom } from '../pipeline/pages.ts';

export interface PaidEmbedder {
  /** The address up to the version. */
  readonly url: string;
  /** Calls and texts that were answered since `reset`. */
  bill(): Bill;
  reset(): void;
  /** Called after each answer. */
  onAnswer: (bill: Bill) => void;
  close(): Promise<void>;
}

export interface Bill {
  readonly calls: number;
  readonly texts: number;
  /** How often each text was paid. */
  readonly timesPaid: ReadonlyMap<string, number>;
}

interface EmbeddingsRequest {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly dimensions?: number;
  readonly encoding_format?: 'float' | 'base64';
}

export const embeddingModel = 'text-embedding-3-small';
const dimensionsDefault = 1536;
const inputsMax = 2048;

export async function startPaidEmbedder(delayMs: number): Promise<PaidEmbedder> {
  const state = { calls: 0, texts: 0, timesPaid: new Map<string, number>() };
  const hooks: { onAnswer: (bill: Bill) => void } = { onAnswer: () => undefined };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (incoming.method !== 'POST' || !incoming.url?.endsWith('/embeddings')) {
      refuse(response, 404, `there is no ${incoming.method} ${incoming.url}`);
      return;
    }
    const request = await readRequest(incoming);
    const texts = typeof request.input === 'string' ? [request.input] : request.input;
    const problem = problemOf(incoming, request, texts);
    await pause(delayMs);
    if (problem !== undefined) {
      refuse(response, 400, problem);
      return;
    }
    // The vendor charges for what it computed, even if the caller is no longer there.
    state.calls += 1;
    state.texts += texts.length;
    for (const text of texts) state.timesPaid.set(text, (state.timesPaid.get(text) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(bodyOf(request, texts)));
    hooks.onAnswer(state);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    bill: () => ({ ...state }),
    reset: () => {
      Object.assign(state, { calls: 0, texts: 0, timesPaid: new Map() });
      hooks.onAnswer = () => undefined;
    },
    set onAnswer(hook: (bill: Bill) => void) {
      hooks.onAnswer = hook;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error }));
}

async function readRequest(incoming: IncomingMessage): Promise<EmbeddingsRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as EmbeddingsRequest;
}

/** What the vendor refuses, as far as a client of this comparison could send it. */
function problemOf(
  { headers }: IncomingMessage,
  { model }: EmbeddingsRequest,
  texts: readonly unknown[],
): string | undefined {
  if (!headers.authorization?.startsWith('Bearer ')) return 'a key is needed';
  if (model !== embeddingModel) return `the model ${model} does not exist`;
  if (!Array.isArray(texts) || texts.length === 0) return "'$.input' is invalid";
  if (texts.length > inputsMax) return `at most ${inputsMax} inputs`;
  if (texts.some((text) => typeof text !== 'string' || text === '')) return "'$.input' is invalid";
  return undefined;
}

function bodyOf(request: EmbeddingsRequest, texts: readonly string[]) {
  const { model, dimensions = dimensionsDefault, encoding_format: format = 'float' } = request;
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding =
      format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** A unit vector that follows from the text alone. */
function vectorOf(text: string, dimensions: number): Float32Array {
  let seed = 2_166_136_261;
  for (let at = 0; at < text.length; at++) {
    seed = Math.imul(seed ^ text.charCodeAt(at), 16_777_619);
  }
  const chance = chanceFrom(seed);
  const vector = Float32Array.from({ length: dimensions }, () => chance() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
