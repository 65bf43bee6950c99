/**
 * The four roles with the settings of `deploy/compose.yaml`, as processes behind the gateway. Only
 * hosts and ports differ.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { settings } from '../../src/app/settings/settings.ts';
import { interpolate, readCompose, readExample } from '../deploy/deploy-files.ts';
import { startGateway } from '../support/nginx.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { lastingPort } from '../support/server.ts';
import { until } from '../support/wait.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';
import { askGateway, type GatewayAsking } from './gateway-client.ts';
import { openRunner, type Started } from './pawl-process.ts';

const roles = ['orchestrator', 'scraper', 'chunking', 'embedding'] as const;
type Role = (typeof roles)[number];
type Ports = Readonly<Record<Role, number>>;

const key = 'a-key-of-somebody-outside';
/** Fewer requests than the gateway admits to a service, so that later ones are admitted, too. */
const pollMs = 500;
const keyHash = createHash('sha256').update(key).digest('hex');
const page =
  '<title>Herons</title><main><p>A grey heron waits for eels beside the old weir.</p></main>';

describe('the roles of compose.yaml behind the gateway', () => {
  const skip = 'role' in settings ? false : 'this Pawl has no roles';

  test('read a page for an external caller, and find it', { skip }, async (t) => {
    const site = await serveWeb(t, pagesOf({ '/heron': page }));
    const { gateway, processes, ports } = await openRoles(t, site.host);
    const ask = (path: string, asking: GatewayAsking = {}) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key, ...asking.headers };
      return askGateway(gateway.port, path, { from: '127.0.0.2', ...asking, headers });
    };
    const post = (path: string, body: object) =>
      ask(path, { method: 'POST', body: JSON.stringify(body) });

    const made = await post('/jobs', { corpus_name: 'birds', url: `${site.origin}/heron` });
    assert.equal(made.status, 202, made.text);
    const { job_id } = made.json();
    // The stream ends with the job: it passed the gateway, the scraper and embedding.
    const told = await ask(`/jobs/${String(job_id)}/stream`);
    assert.match(told.text, /"kind":"job_succeeded"/);
    const found = await post('/search', { corpus_name: 'birds', query: 'heron at the weir' });
    const [first] = found.json().results as { source_url: string }[];
    assert.equal(first?.source_url, `${site.origin}/heron`);
    // Each step is measured by the process that ran it, so the sum over all counts it once.
    const figures = (name: RegExp) => Promise.all(roles.map((role) => figureAt(ports[role], name)));
    assert.deepEqual(await figures(/^chunking_duration_seconds_count /), [0, 0, 1, 0]);
    const written = /^embedding_request_duration_seconds_count\{operation="write"\} /;
    assert.deepEqual(await figures(written), [0, 0, 0, 1]);
    const lines = () => gateway.logLines().map((line) => JSON.parse(line));
    const search = await until(() => lines().find(({ path }) => path === '/search'), {
      what: 'the line of the search in the access log',
    });
    assert.equal(search.upstream_addr, `127.0.0.1:${ports.embedding}`);

    const scraped = await post('/scrape', { url: `${site.origin}/heron` });
    assert.equal(scraped.status, 200, scraped.text);
    assert.match(scraped.text, /grey heron/);
    const queued = await post('/api/scraper/enqueue', { url: `${site.origin}/heron` });
    assert.equal(queued.status, 202, queued.text);
    const result = await until(
      async () => {
        const found = await ask(`/api/scraper/enqueue/${String(queued.json().id)}`);
        return found.json().status === 'done' ? found.text : undefined;
      },
      { what: 'the result', intervalMs: pollMs },
    );
    assert.match(result, /grey heron/);
    const callback = await post(`/jobs/${String(job_id)}/complete`, { stage: 'scraping' });
    assert.equal(callback.status, 403);

    // The requests of a caller are counted in one place, for all services.
    for (const role of roles) {
      await until(() => hasRedis(ports[role]), { what: `the Redis of ${role}` });
    }

    processes.scraper.child.kill('SIGKILL');
    await processes.scraper.finished;
    const away = await post('/scrape', { url: `${site.origin}/heron` });
    assert.deepEqual([away.status, away.json().code], [503, 'service_unavailable']);
    assert.equal((await post('/search', { corpus_name: 'birds', query: 'eels' })).status, 200);
  });
});

/** A busy machine may exceed a time limit of Redis; then it is connected again. */
async function hasRedis(port: number): Promise<boolean> {
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { checks } = (await ready.json()) as { checks: { redis?: { ok: boolean } } };
  return checks.redis?.ok === true;
}

async function figureAt(port: number, name: RegExp): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const line = metrics.split('\n').find((text) => name.test(text));
  return Number(line?.split(' ').at(-1) ?? 0);
}

async function openRoles(t: TestContext, allowed: string) {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const redis = await Promise.all(['orch', 'scrape', 'embed'].map(() => startRedis()));
  t.after(async () => void (await Promise.all(redis.map((each) => each.stop()))));
  const ports: Ports = {
    orchestrator: await lastingPort(),
    scraper: await lastingPort(),
    chunking: await lastingPort(),
    embedding: await lastingPort(),
  };
  const [orch = '', scrape = '', embed = ''] = redis.map(({ port }) => String(port));
  const places = new Map([
    ['redis-orch:6379', `127.0.0.1:${orch}`],
    ['redis-scrape:6379', `127.0.0.1:${scrape}`],
    ['redis-embed:6379', `127.0.0.1:${embed}`],
    ...roles.map((role): [string, string] => [`${role}:7300`, `127.0.0.1:${ports[role]}`]),
  ]);
  const database = await postgres.createDatabase();
  const place = openRunner(t);
  const start = (role: Role): Started => {
    const { environment, command } = toldTo(role, { places, database });
    const own = { PAWL_DATA: `${place.folder}/${role}`, PAWL_PORT: String(ports[role]) };
    const allow = { PAWL_ALLOW_HOSTS: allowed };
    return place.start(command, { environment: { ...environment, ...own, ...allow } });
  };
  const processes = {
    chunking: start('chunking'),
    orchestrator: start('orchestrator'),
    scraper: start('scraper'),
    embedding: start('embedding'),
  };
  await Promise.all(Object.values(processes).map((each) => heard(each)));
  const gateway = await startGateway({ ports });
  t.after(() => gateway.stop());
  const isWell = async () =>
    (await askGateway(gateway.port, '/healthz', { from: '127.0.0.3' })).status === 200;
  await until(isWell, { what: 'the orchestrator behind the gateway' });
  return { gateway, processes, ports };
}

/** Four processes start concurrently, which takes longer on a busy machine. */
async function heard(started: Started): Promise<void> {
  const pattern = /listens on/;
  await started.seen(pattern).catch(() => started.seen(pattern));
}

/** The environment of compose, with network names replaced by local addresses. */
function toldTo(
  role: Role,
  { places, database }: { places: ReadonlyMap<string, string>; database: string },
) {
  const values = new Map(
    [...readExample()].map(([name, value]) => [name, value || valueOfSecret(name)]),
  );
  const { services } = readCompose('compose.yaml', values);
  const { environment = {}, command = [] } = services[role] ?? {};
  const told = Object.entries(environment).map(([name, text]): [string, string] => {
    if (name === 'PAWL_DATABASE_URL') return [name, database];
    return [name, replaced(interpolate(text, values), places)];
  });
  return { environment: Object.fromEntries(told), command };
}

function replaced(text: string, places: ReadonlyMap<string, string>): string {
  return [...places].reduce((result, [name, address]) => result.replace(name, address), text);
}

/** Secrets are filled in; other empty values stay empty. */
function valueOfSecret(name: string): string {
  if (name === 'PAWL_API_KEYS') return `sha256:${keyHash}`;
  const isSecret = ['POSTGRES_PASSWORD', 'PAWL_INTERNAL_KEY'];
  return isSecret.includes(name) ? 'a-secret-of-more-than-24-characters' : '';
}
