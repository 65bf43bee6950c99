/** A Membership service on loopback: answers as a test says, and records requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: unknown;
}

export interface MembershipServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** The response from now on; a promise makes the caller wait. */
  reply: (key: string) => Reply | Promise<Reply>;
  /** Resolves when this many requests have come in total. */
  asked(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startMembership(t: Cleanup): Promise<MembershipServer> {
  const requests: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const membership: MembershipServer = {
    url: '',
    requests,
    reply: () => ({ status: 201 }),
    async asked(count) {
      while (requests.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
      }
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await readReceived(request);
    requests.push(received);
    for (const resolve of waiting) resolve();
    waiting.clear();
    const { api_key: key = '' } = received.body as { api_key?: string };
    const { status, body = '', headers = {} } = await membership.reply(key);
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => membership.stop());
  const { port } = server.address() as AddressInfo;
  return Object.assign(membership, { url: `http://127.0.0.1:${port}` });
}

async function readReceived(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    contentType: request.headers['content-type'],
    body: JSON.parse(Buffer.concat(chunks).toString()),
  };
}
