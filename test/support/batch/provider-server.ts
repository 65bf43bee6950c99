/**
 * The skeleton of a provider's server on a free port: routes, a record of calls, and faults that a
 * test orders for the next call of a kind. Its jobs advance with each poll.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../temporary.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  json(): Record<string, unknown>;
}

export type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  /** Writes the response itself. */
  | ((response: ServerResponse) => void);

export type Handler = (call: Call, match: RegExpExecArray) => Reply | Promise<Reply>;

export interface Trouble {
  /** Calls whose method and path match get this response. */
  readonly on: RegExp;
  readonly reply: Reply;
  /** How often; once by default. */
  times?: number;
  /** The call is carried out first. */
  readonly isAfter?: boolean;
}

export class ProviderServer {
  readonly calls: Call[] = [];
  readonly #routes: readonly (readonly [RegExp, Handler])[];
  readonly #troubles: Trouble[] = [];
  #disturbance: readonly [RegExp, () => Reply | undefined] | undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #port = 0;

  constructor(routes: readonly (readonly [RegExp, Handler])[]) {
    this.#routes = routes;
  }

  async start(t: Cleanup): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    t.after(() => this.close());
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  trouble(trouble: Trouble): void {
    this.#troubles.push(trouble);
  }

  /** Decides for each such call whether it gets this response. */
  disturb(on: RegExp, reply: () => Reply | undefined): void {
    this.#disturbance = [on, reply];
  }

  count(on: RegExp): number {
    return this.calls.filter(({ method, path }) => on.test(`${method} ${path}`)).length;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const url = new URL(request.url ?? '/', this.url);
    const call: Call = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
      json: () => JSON.parse(body.toString() || '{}'),
    };
    this.calls.push(call);
    send(response, await this.#answer(call));
  }

  async #answer(call: Call): Promise<Reply> {
    const name = `${call.method} ${call.path}`;
    const trouble = this.#troubles.find(({ on, times = 1 }) => times > 0 && on.test(name));
    if (trouble) trouble.times = (trouble.times ?? 1) - 1;
    if (trouble && !trouble.isAfter) return trouble.reply;
    const [pattern, disturbed] = this.#disturbance ?? [];
    const disturbance = pattern?.test(name) ? disturbed?.() : undefined;
    if (disturbance) return disturbance;
    for (const [pattern, handler] of this.#routes) {
      const match = pattern.exec(name);
      if (!match) continue;
      const reply = await handler(call, match);
      return trouble?.reply ?? reply;
    }
    return { status: 404, body: { error: { message: `no route ${name}` } } };
  }
}

function send(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') {
    reply(response);
    return;
  }
  const { status = 200, headers = {}, body = '' } = reply;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(isRaw ? body : JSON.stringify(body));
}

/** The fields of an object that its interface does not know. */
export function unknownFields(value: unknown, known: readonly string[]): string[] {
  return Object.keys(Object(value)).filter((name) => !known.includes(name));
}

/** An error page of a proxy. */
export const htmlPage: Reply = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>502</title>',
};

export const breaksOff: Reply = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"id":');
  setImmediate(() => response.destroy());
};
