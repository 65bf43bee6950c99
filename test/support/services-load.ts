/** Documents for a fleet of services, and a check that each of them exists once in the end. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { patience } from './patience.ts';
import { type Services, userKey } from './services.ts';
import { until } from './wait.ts';

export interface Pages {
  readonly host: string;
  url(name: string): string;
  /** How often each page was requested. */
  readonly asked: ReadonlyMap<string, number>;
  /** Matching pages are not answered until released. */
  hold(pattern: RegExp): void;
  letGo(): void;
  /** The number of held requests. */
  readonly held: number;
  /** The next requests for matching pages get this status. */
  refuse(pattern: RegExp, status: number, times: number): void;
  close(): void;
}

export async function openPages(): Promise<Pages> {
  const asked = new Map<string, number>();
  let holding: RegExp | undefined;
  let held: (() => void)[] = [];
  let refusal: { pattern: RegExp; status: number; times: number } | undefined;
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1);
    if (name === 'robots.txt') return void response.writeHead(404).end();
    asked.set(name, (asked.get(name) ?? 0) + 1);
    if (refusal && refusal.times > 0 && refusal.pattern.test(name)) {
      refusal.times -= 1;
      return void response.writeHead(refusal.status).end('not now');
    }
    const answer = (): void => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(name));
    };
    if (holding?.test(name)) held.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    asked,
    url: (name) => `http://${host}/${name}`,
    hold: (pattern) => {
      holding = pattern;
    },
    letGo: () => {
      holding = undefined;
      for (const answer of held) answer();
      held = [];
    },
    get held() {
      return held.length;
    },
    refuse: (pattern, status, times) => {
      refusal = { pattern, status, times };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pageOf(name: string): string {
  const word = name.replace(/\W+/g, '');
  const text = `The heron ${word} stands in the reeds and waits for a fish that is late. `.repeat(
    4,
  );
  const links = linksOf(name).map((link) => `<a href="/${link}">more</a>`);
  return (
    `<!doctype html><title>About ${name}</title><main><h1>${name}</h1><p>${text}</p></main>` +
    `<nav>${links.join(' ')}</nav>`
  );
}

/** A site is a tree, so that it is found step by step: page 7 links to 71, 72 and so on to 80. */
const branches = 10;
const sitePages = 500;

function linksOf(name: string): string[] {
  const [, site = '', page = ''] = /^(site\w*)-(\d+)$/.exec(name) ?? [];
  if (site === '') return [];
  const first = Number(page) * branches + 1;
  const all = Array.from({ length: branches }, (_, index) => first + index);
  return all.filter((number) => number < sitePages).map((number) => `${site}-${number}`);
}

/** Requests to the orchestrator with a user key; they wait while it is away. */
export async function ask<Answer = Record<string, unknown>>(
  address: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Answer }> {
  return send<Answer>(`${address}${path}`, body === undefined ? {} : { body });
}

interface Sending {
  readonly body?: unknown;
  /** The idempotency key. */
  readonly key?: string | undefined;
}

async function send<Answer>(url: string, { body, key }: Sending) {
  const own = { 'x-api-key': userKey, ...(key !== undefined && { 'idempotency-key': key }) };
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    // A kept connection would belong to an orchestrator that was killed meanwhile.
    headers: { ...own, 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

/** With a key, a repeated submission is the same job: its first response may have been lost. */
export async function submit(
  services: Services,
  { corpus, urls, key }: { corpus: string; urls: readonly string[]; key?: string },
): Promise<string> {
  const body = { corpus_name: corpus, urls };
  const { address } = services.orchestrator;
  const answer = await send<{ job_id: string }>(`${address}/jobs`, { body, key });
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return String(answer.body.job_id);
}

interface JobBody {
  readonly state: string;
  readonly items_done: number;
  readonly items_failed: number;
}

/** Waits for the end of a job, across restarts of services. */
export async function ended(services: Services, id: string): Promise<JobBody> {
  let last: unknown;
  const look = async () => {
    const { body } = await ask<JobBody>(services.orchestrator.address, `/jobs/${id}`);
    last = body;
    return ['succeeded', 'failed', 'canceled'].includes(body.state) ? body : undefined;
  };
  return until(look, {
    what: `job ${id} to end`,
    patienceMs: patience.testMs,
    intervalMs: 100,
  }).catch((error) => {
    const said = services.processes.map(({ name, output }) => `--- ${name}\n${output}`);
    throw new Error(`${JSON.stringify(last)}\n${said.join('\n')}`, { cause: error });
  });
}

export interface Verdict {
  readonly documents: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly stuck: number;
  readonly handoffs: number;
}

/** Checks the store itself: every document exists once and is complete, and nothing else exists. */
export async function judge(
  { databaseUrl }: Services,
  corpus: string,
  expected: number,
): Promise<Verdict> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const count = async (text: string, ...values: unknown[]): Promise<number> =>
    Number((await client.query(text, values)).rows[0].count);
  try {
    const documents = await count(
      `SELECT COUNT(*) AS count FROM documents d WHERE d.corpus = $1 AND d.generation_id IS NOT NULL
        AND EXISTS (SELECT 1 FROM chunks c WHERE c.generation_id = d.generation_id)
        AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.generation_id = d.generation_id
          AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.generation_id = c.generation_id
            AND v.ordinal = c.ordinal))`,
      corpus,
    );
    const duplicated = await count(
      `SELECT COUNT(*) AS count FROM (SELECT item_id, step FROM events
        WHERE kind = 'step_completed' GROUP BY item_id, step HAVING COUNT(*) > 1) AS twice`,
    );
    const spare = await count(
      `SELECT COUNT(*) AS count FROM chunks c JOIN documents d ON d.id = c.document_id
        WHERE d.corpus = $1 AND c.generation_id <> d.generation_id`,
      corpus,
    );
    const stuck = await count('SELECT COUNT(*) AS count FROM items WHERE waits_on IS NOT NULL');
    const handoffs = await count('SELECT COUNT(*) AS count FROM handoffs');
    const lost = expected - documents;
    return { documents, lost, duplicated: duplicated + spare, stuck, handoffs };
  } finally {
    await client.end();
  }
}
