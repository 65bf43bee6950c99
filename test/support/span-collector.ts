/** An OpenTelemetry collector on a free port of this machine, which keeps what it receives. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export interface Sent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

export async function startCollector(t: Cleanup) {
  const spans: Sent[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      paths.add(request.url ?? '');
      const body = JSON.parse(Buffer.concat(pieces).toString());
      for (const { scopeSpans } of body.resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const otlpUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { spans, paths, otlpUrl };
}
