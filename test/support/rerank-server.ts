/**
 * A server with the rerank interfaces of vendors, in this process. It refuses a request that is not
 * as they document it, and scores a passage by the share of the words of the query that it has.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export interface RerankCall {
  readonly vendor: Vendor;
  readonly authorization: string | undefined;
  readonly query: string;
  readonly texts: readonly string[];
}

type Vendor = keyof typeof forms;
export type RerankScript = (call: RerankCall, response: ServerResponse) => boolean | undefined;

export interface RerankServer {
  readonly origin: string;
  readonly calls: readonly RerankCall[];
  /** Requests that were not as documented. */
  readonly wrongs: readonly string[];
  /** True: it has answered. */
  script: RerankScript;
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isCount = (value: unknown) => Number.isInteger(value) && Number(value) > 0;

/** The fields of a request with what they may hold, and the most texts that it may have. */
const forms = {
  jina: {
    path: '/v1/rerank',
    texts: 'documents',
    textsMax: 2048,
    needed: { model: isText, query: isText },
    also: { top_n: isCount, return_documents: isFlag },
    refusal: (detail: string) => [422, { detail }],
  },
  cohere: {
    path: '/v2/rerank',
    texts: 'documents',
    textsMax: 1000,
    needed: { model: isText, query: isText },
    also: { top_n: isCount, max_tokens_per_doc: isCount, priority: Number.isInteger },
    refusal: (message: string) => [400, { id: 'r', message }],
  },
  voyage: {
    path: '/v1/rerank',
    texts: 'documents',
    textsMax: 1000,
    needed: { model: isText, query: isText },
    also: { top_k: isCount, truncation: isFlag, return_documents: isFlag },
    refusal: (detail: string) => [400, { detail }],
  },
  tei: {
    path: '/rerank',
    texts: 'texts',
    textsMax: 32,
    needed: { query: isText },
    also: {
      raw_scores: isFlag,
      truncate: isFlag,
      return_text: isFlag,
      truncation_direction: (value: unknown) => value === 'left' || value === 'right',
    },
    refusal: (error: string) => [413, { error, error_type: 'Validation' }],
  },
} satisfies Readonly<Record<string, Form>>;

interface Form {
  readonly path: string;
  readonly texts: string;
  readonly textsMax: number;
  readonly needed: Readonly<Record<string, (value: unknown) => boolean>>;
  readonly also: Readonly<Record<string, (value: unknown) => boolean>>;
  refusal(what: string): readonly (number | object)[];
}

export async function startRerankServer(t: Cleanup): Promise<RerankServer> {
  const calls: RerankCall[] = [];
  const wrongs: string[] = [];
  const state: { script: RerankScript } = { script: () => undefined };
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const vendor = (request.url ?? '').split('/')[1] as Vendor;
      const wrong = wrongIn(request, vendor, body);
      if (wrong !== undefined) {
        wrongs.push(wrong);
        const [status, said] = forms[vendor]?.refusal(wrong) ?? [404, { message: wrong }];
        response.writeHead(Number(status)).end(JSON.stringify(said));
        return;
      }
      const texts = body[forms[vendor].texts] as string[];
      const { authorization } = request.headers;
      const call = { vendor, authorization, query: String(body.query), texts };
      calls.push(call);
      if (state.script(call, response) === true) return;
      answerScores(call, response, texts.map(scoreOf(call.query)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, { origin: `http://127.0.0.1:${port}`, calls, wrongs });
}

/** Best first, as the vendors answer. */
export function answerScores(
  { vendor }: RerankCall,
  response: ServerResponse,
  scores: readonly number[],
): void {
  const name = vendor === 'tei' ? 'score' : 'relevance_score';
  const rows = scores
    .map((score, index) => ({ index, [name]: score }))
    .sort((one, other) => Number(other[name]) - Number(one[name]));
  const usage = { total_tokens: 1000 };
  const answers = {
    jina: { model: 'm', results: rows, usage },
    cohere: { id: 'r', results: rows, meta: { billed_units: { search_units: 1 } } },
    voyage: { object: 'list', data: rows, model: 'm', usage },
    tei: rows,
  };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[vendor]));
}

function wrongIn(
  { method, url }: IncomingMessage,
  vendor: Vendor,
  body: Readonly<Record<string, unknown>>,
): string | undefined {
  const form: Form | undefined = forms[vendor];
  if (!form) return `no vendor at ${url}`;
  if (method !== 'POST' || url !== `/${vendor}${form.path}`) return `${method} ${url}`;
  const { needed, also, texts: list, textsMax } = form;
  const missing = Object.keys(needed).find((name) => body[name] === undefined);
  if (missing) return `${vendor}: ${missing} is missing`;
  const checks = { ...needed, ...also, [list]: isTexts };
  for (const [name, value] of Object.entries(body)) {
    const isValid = checks[name];
    if (!isValid) return `${vendor}: there is no field ${name}`;
    if (!isValid(value)) return `${vendor}: ${name} is ${JSON.stringify(value)}`;
  }
  const { length } = body[list] as string[];
  return length > textsMax ? `${vendor}: batch size ${length} > ${textsMax}` : undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}

function scoreOf(query: string): (text: string) => number {
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  return (text) =>
    words.filter((word) => text.toLowerCase().includes(word)).length / Math.max(words.length, 1);
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}
