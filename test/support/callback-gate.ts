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
    const isEnd = (request.url ?? '').endsWith('/complete');
    const mode = isEnd || this.mode === 'cut' ? this.mode : 'open';
    if (isEnd && mode !== 'open') this.disturbed += 1;
    if (mode === 'cut') return void response.destroy();
    const answer = await this.#forward(request, Buffer.concat(chunks));
    if (mode === 'double') await this.#forward(request, Buffer.concat(chunks));
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
    if (url.endsWith('/complete')) this.#note(text);
    return { status: answer.status, body: text };
  }

  #note(text: string): void {
    const { status = 'problem' } = JSON.parse(text) as { status?: string | number };
    this.said.set(String(status), (this.said.get(String(status)) ?? 0) + 1);
  }
}
