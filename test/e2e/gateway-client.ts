/** Requests to a gateway from any local address; only 127.0.0.1 is internal. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { patience } from '../support/patience.ts';

export interface GatewayAsking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address that the request comes from. */
  readonly from?: string;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Raw, so that duplicates are visible. */
  readonly headerNames: readonly string[];
  readonly text: string;
  json(): Record<string, unknown>;
}

export function askGateway(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, from = '127.0.0.1' }: GatewayAsking = {},
): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, path, method, headers, localAddress: from };
    const asked = request({ ...target, agent: false, timeout: patience.eventMs }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.once('error', reject).once('end', () => {
        const { statusCode: status = 0, headers: got, rawHeaders } = response;
        const headerNames = rawHeaders.filter((_, at) => at % 2 === 0).map((n) => n.toLowerCase());
        resolve({ status, headers: got, headerNames, text, json: () => JSON.parse(text) });
        // A refused body is not sent to its end.
        asked.destroy();
      });
    });
    asked.once('timeout', () =>
      asked.destroy(new Error(`${path} took more than ${patience.eventMs} ms`)),
    );
    asked.once('error', reject);
    if (headers['content-length'] === undefined) asked.end(body);
    else asked.write(body ?? '');
  });
}
