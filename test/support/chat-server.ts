/**
 * A server with the streamed chat completions of OpenAI, in this process, written from the
 * published interface: it refuses a request that the interface does not have. Its answers are
 * those of the test, in pieces.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export interface ChatCall {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly system: string;
  readonly user: string;
  /** Resolves when the client has left, or the response has ended. */
  readonly closed: Promise<void>;
}

export interface ChatStream {
  text(piece: string): void;
  /** Ends as the interface does. */
  end(finish?: string): void;
  readonly response: ServerResponse;
}

export type ChatScript = (call: ChatCall, stream: ChatStream) => void;

export interface ChatServer {
  readonly url: string;
  readonly calls: readonly ChatCall[];
  /** Requests that the interface does not have. */
  readonly wrongs: readonly string[];
  script: ChatScript;
}

export const chatUsage = { prompt_tokens: 2000, completion_tokens: 100, total_tokens: 2100 };

/** An answer in pieces of a few characters. */
export function saying(text: string, finish = 'stop'): ChatScript {
  return (_, stream) => {
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) stream.text(piece);
    stream.end(finish);
  };
}

export async function startChatServer(t: Cleanup, script: ChatScript): Promise<ChatServer> {
  const calls: ChatCall[] = [];
  const wrongs: string[] = [];
  const state = { script };
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const wrong = wrongIn(request, body);
      if (wrong !== undefined) {
        wrongs.push(wrong);
        response.writeHead(400).end(JSON.stringify({ error: { message: wrong, type: 'invalid' } }));
        return;
      }
      const [system, user] = (body.messages as { content: string }[]).map(({ content }) => content);
      const call: ChatCall = {
        authorization: request.headers.authorization,
        model: String(body.model),
        system: system ?? '',
        user: user ?? '',
        closed: once(response, 'close').then(() => undefined),
      };
      calls.push(call);
      state.script(call, streamOf(call, response));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, { url: `http://127.0.0.1:${port}/v1`, calls, wrongs });
}

function streamOf({ model }: ChatCall, response: ServerResponse): ChatStream {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
  const send = (data: object): void => {
    if (!response.headersSent) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    }
    response.write(`data: ${JSON.stringify({ ...head, ...data })}\n\n`);
  };
  const choice = (delta: object, finish: string | null = null) => {
    send({ choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
  };
  let isBegun = false;
  const begin = (): void => {
    if (!isBegun) choice({ role: 'assistant', content: '' });
    isBegun = true;
  };
  return {
    response,
    text: (piece) => {
      begin();
      choice({ content: piece });
    },
    end: (finish = 'stop') => {
      begin();
      choice({}, finish);
      send({ choices: [], usage: chatUsage });
      response.end('data: [DONE]\n\n');
    },
  };
}

const fields = ['model', 'messages', 'stream', 'stream_options'];

function wrongIn(
  { method, url }: IncomingMessage,
  body: Readonly<Record<string, unknown>>,
): string | undefined {
  if (method !== 'POST' || url !== '/v1/chat/completions') return `${method} ${url}`;
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown) return `there is no field ${unknown}`;
  if (typeof body.model !== 'string' || body.stream !== true) return 'model or stream is missing';
  const options = JSON.stringify(body.stream_options);
  if (options !== '{"include_usage":true}') return `stream_options is ${options}`;
  const { messages } = body;
  const roles = Array.isArray(messages) ? messages.map(({ role }) => role).join() : '';
  if (roles !== 'system,user') return `the roles are ${roles}`;
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}
