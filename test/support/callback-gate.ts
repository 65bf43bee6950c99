/**
 * A proxy between workers and the orchestrator: a test can cut it, and make it lose or duplicate
 * calls.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `lose`: the call arrives, its response does not. `double`: it arrives twice. `cut`: never. */
export type GateMode = 'open' | 'lose' | 'double' | 'cut';

export class CallbackGate {
  mode: GateMode = 'open';
  /** Completion calls that reached the orchestrator, by its response. */
  readonly said = new Map<string, number>();
  /** Completions handled in a mode other than `open`. */
  disturbed = 0;
  #targetOf: () => string = () => '';
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Evaluated for every call: an orchestrator may restart at another address. */
  leadTo(target: () => string): void {
    this.#targetOf = target;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const ends = completionsIn(body);
    const mode = ends > 0 || this.mode === 'cut' ? this.mode : 'open';
    if (mode !== 'open') this.disturbed += ends;
    if (mode === 'cut') return void response.destroy();
    const answer = await this.#forward(request, body);
    if (mode === 'double') await this.#forward(request, body);
    if (mode === 'lose') return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }

  async #forward({ url = '/', method, headers }: IncomingMessage, body: Buffer) {
    const own = ['host', 'connection', 'content-length', 'transfer-encoding'];
    const rest = Object.entries(headers).filter(([name]) => !own.includes(name));
    const answer = await fetch(`${this.#targetOf()}${url}`, {
      method: method ?? 'POST',
      headers: Object.fromEntries(rest) as Record<string, string>,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    this.#note(text);
    return { status: answer.status, body: text };
  }

  #note(text: string): void {
    const { replies = [] } = JSON.parse(text) as { replies?: readonly Reply[] };
    for (const { complete, error } of replies) {
      const status = complete?.status ?? error?.code;
      if (status !== undefined) this.said.set(status, (this.said.get(status) ?? 0) + 1);
    }
  }
}

interface Reply {
  readonly complete?: { readonly status: string };
  readonly error?: { readonly code: string };
}

/** The number of completions in a batch of callbacks. */
function completionsIn(body: Buffer): number {
  if (body.length === 0) return 0;
  const { calls = [] } = JSON.parse(body.toString()) as { calls?: readonly object[] };
  return calls.filter((call) => 'complete' in call).length;
}
