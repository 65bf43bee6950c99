/**
 * Four processes on a real Postgres and three real Redis: pages of a web site become search
 * results, while each of the processes and servers fails at the worst moment.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startGateway } from '../support/nginx.ts';
import { internalKey, type Part, Services } from '../support/services.ts';
import { ask, ended, judge, openPages, type Pages, submit } from '../support/services-load.ts';
import { until } from '../support/wait.ts';

let pages: Pages;
let services: Services;
before(async () => {
  pages = await openPages();
  services = await Services.start({ allowHosts: [pages.host] });
});
after(async () => {
  await services?.stop();
  pages?.close();
});

const namesOf = (corpus: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${corpus}-${index}`);

async function openGateway() {
  const portOf = (role: Part): number => services.of(role).port;
  const gateway = await startGateway({
    ports: {
      orchestrator: portOf('orchestrator'),
      scraper: portOf('scraper'),
      chunking: portOf('chunking'),
      embedding: portOf('embedding'),
    },
  });
  return { ...gateway, address: `http://127.0.0.1:${gateway.port}` };
}

async function begin(corpus: string, count = 12): Promise<string> {
  return submit(services, { corpus, urls: namesOf(corpus, count).map(pages.url) });
}

async function wellEnded(id: string, corpus: string, count = 12): Promise<void> {
  const job = await ended(services, id);
  assert.deepEqual([job.state, job.items_done, job.items_failed], ['succeeded', count, 0]);
  // Used requests are removed with the commit; a worker may not yet know that it was too late.
  const { handoffs: _, ...verdict } = await judge(services, corpus, count);
  assert.deepEqual(verdict, { documents: count, lost: 0, duplicated: 0, stuck: 0 });
}

describe('four services', () => {
  test('bring a web site of 500 pages through the gateway to search results', async (t) => {
    const gateway = await openGateway();
    t.after(() => gateway.stop());
    const crawl = { url: pages.url('site-0'), depth: 5, limit: 600 };
    const { status, body } = await ask(gateway.address, '/jobs', { corpus_name: 'site', crawl });
    assert.equal(status, 202, JSON.stringify(body));
    await wellEnded(String(body.job_id), 'site', 500);
    assert.deepEqual(
      new Set(namesOf('site', 500).map((name) => pages.asked.get(name))),
      new Set([1]),
    );
    for (const name of ['site-0', 'site-7', 'site-499']) {
      const query = `heron ${name.replace('-', '')}`;
      const found = await ask<{ results: { source_url: string }[] }>(gateway.address, '/search', {
        corpus_name: 'site',
        query,
        top_k: 3,
      });
      assert.equal(found.status, 200, JSON.stringify(found.body));
      assert.equal(found.body.results[0]?.source_url, pages.url(name));
    }
    assert.equal((await judge(services, 'site', 500)).handoffs, 0);
  });

  test('continue when the scraper dies in the middle of its work', async () => {
    pages.hold(/^scraper/);
    const id = await begin('scraper');
    await until(() => pages.held > 0, { what: 'a page to be requested' });
    await services.of('scraper').kill();
    pages.letGo();
    await services.of('scraper').start();
    await wellEnded(id, 'scraper');
  });

  test('wait for an embedding service that is down, then process the backlog', async () => {
    await services.of('embedding').kill();
    const id = await begin('embedding');
    const address = services.orchestrator.address;
    const status = async () => (await ask(address, `/jobs/${id}`)).body.status;
    await until(async () => (await status()) === 'embedding', {
      what: 'embedding',
    });
    await services.of('embedding').start();
    await wellEnded(id, 'embedding');
  });

  test('fetch while the embedding service is down, and say that no worker is there', async () => {
    await services.of('embedding').kill();
    const count = 80;
    const id = await begin('read-on', count);
    const isRead = (name: string): boolean => pages.asked.has(name);
    await until(() => namesOf('read-on', count).every(isRead), { what: 'all pages to be read' });
    const address = services.orchestrator.address;
    const explanations = async () => {
      const { body } = await ask<{ items: { explanation: string }[] }>(
        address,
        `/jobs/${id}/items?limit=${count}`,
      );
      return body.items.map(({ explanation }) => explanation);
    };
    const isTold = (said: string): boolean =>
      /^Waiting to be .*: no worker of the embedding stage is running\./.test(said);
    await until(async () => (await explanations()).some(isTold), { what: 'the explanation' });
    await services.of('embedding').start();
    await wellEnded(id, 'read-on', count);
  });

  test('finish a text while the scraper is down and pages wait for it', async () => {
    await services.of('scraper').kill();
    const count = 80;
    const id = await begin('waiting', count);
    const { body } = await ask(services.orchestrator.address, '/jobs', {
      corpus_name: 'a-text',
      documents: [{ text: 'A heron that needs no scraper stands in the reeds.' }],
    });
    const job = await ended(services, String(body.job_id));
    assert.deepEqual([job.state, job.items_done], ['succeeded', 1]);
    assert.ok(namesOf('waiting', count).every((name) => !pages.asked.has(name)));
    await services.of('scraper').start();
    await wellEnded(id, 'waiting', count);
  });

  test('wait for a chunking service that is down', async () => {
    await services.of('chunking').kill();
    const id = await begin('chunking', 4);
    const address = services.orchestrator.address;
    const waits = async () => {
      const { body } = await ask<{ items: { error?: unknown }[] }>(address, `/jobs/${id}/events`);
      return JSON.stringify(body).includes('service_busy');
    };
    await until(waits, { what: 'the wait for the chunking service' });
    await services.of('chunking').start();
    await wellEnded(id, 'chunking', 4);
  });

  test('accept the result of a third-party worker, and refuse one without text', async () => {
    await services.of('scraper').kill();
    const id = await begin('foreign', 1);
    const address = services.orchestrator.address;
    const complete = async (result: Record<string, unknown>) => {
      const response = await fetch(`${address}/jobs/${id}/complete`, {
        method: 'POST',
        headers: { 'x-api-key': internalKey, 'content-type': 'application/json' },
        body: JSON.stringify({ stage: 'scraping', status: 'success', result }),
      });
      return [response.status, (await response.json()) as Record<string, unknown>] as const;
    };
    await until(async () => (await judge(services, 'foreign', 0)).handoffs > 0, {
      what: 'the request',
    });
    const [refused, problem] = await complete({ title: 'no text' });
    assert.equal(refused, 400);
    assert.match(String(problem.detail), /result\.markdown is missing/);
    const markdown = '# Bitterns\n\nThe bittern booms in the reeds before the sun is up.';
    assert.deepEqual(await complete({ markdown, title: 'Bitterns' }), [
      200,
      { status: 'chunking' },
    ]);
    await wellEnded(id, 'foreign', 1);
    const found = await ask<{ results: { text: string }[] }>(
      services.of('embedding').address,
      '/search',
      { corpus_name: 'foreign', query: 'bittern' },
    );
    assert.match(found.body.results[0]?.text ?? '', /booms/);
    assert.equal(pages.asked.get('foreign-0'), undefined);
    await services.of('scraper').start();
  });

  test('keep the results of workers while the orchestrator was down', async () => {
    pages.hold(/^orchestrator/);
    const id = await begin('orchestrator');
    await until(() => pages.held > 2, { what: 'pages to be requested' });
    await services.orchestrator.kill();
    // The workers finish, but cannot call back.
    pages.letGo();
    await services.orchestrator.start();
    await wellEnded(id, 'orchestrator');
    const twice = namesOf('orchestrator', 12).filter((name) => (pages.asked.get(name) ?? 0) > 1);
    assert.deepEqual(twice, [], 'no page was read again');
  });

  test('count a callback once, if its response is lost, it is repeated, or cut off', async () => {
    const { gate } = services;
    for (const mode of ['double', 'lose', 'cut'] as const) {
      const corpus = `callback-${mode}`;
      const seen = gate.disturbed;
      pages.hold(/^callback/);
      const id = await begin(corpus, 6);
      await until(() => pages.held >= 6, { what: 'six pages' });
      gate.mode = mode;
      pages.letGo();
      const what = `callbacks to ${mode}`;
      await until(() => gate.disturbed >= seen + 6, { what });
      gate.mode = 'open';
      await wellEnded(id, corpus, 6);
    }
    // A job may end before the callback whose response was lost is repeated.
    await until(() => (gate.said.get('already_advanced') ?? 0) >= 12, {
      what: 'repeated callbacks to be known',
    });
  });

  test('continue when Redis is emptied and killed, and when Postgres is restarted', async () => {
    pages.hold(/^servers/);
    const id = await begin('servers');
    await until(() => pages.held > 0, { what: 'a page to be requested' });
    // A killed Redis has nothing on its disk.
    await Promise.all([
      ...Object.values(services.redis).map((redis) => redis.restart('immediate')),
      services.postgres.restart('fast'),
    ]);
    pages.letGo();
    await wellEnded(id, 'servers');
  });

  test('may have two orchestrators, and either can be called back', async () => {
    const second = await services.add('orchestrator');
    let turn = 0;
    services.gate.leadTo(() => [services.orchestrator, second][turn++ % 2]?.address ?? '');
    const id = await begin('two', 24);
    await wellEnded(id, 'two', 24);
    await second.stop('SIGTERM');
    services.gate.leadTo(() => services.orchestrator.address);
    const after = await begin('one-again', 4);
    await wellEnded(after, 'one-again', 4);
  });

  test('refuse results of a scraper that wakes after its work was reassigned', async () => {
    pages.hold(/^zombie/);
    const id = await begin('zombie', 4);
    await until(() => pages.held > 0, { what: 'a page to be requested' });
    const asleep = services.of('scraper');
    asleep.send('SIGSTOP');
    const address = services.orchestrator.address;
    await ask(address, `/jobs/${id}/pause`, {});
    await ask(address, `/jobs/${id}/cancel`, {});
    asleep.send('SIGCONT');
    pages.letGo();
    const job = await ended(services, id);
    assert.equal(job.state, 'canceled');
    await until(async () => (await judge(services, 'zombie', 0)).handoffs === 0, {
      what: 'no request to be left',
    });
    const { documents, stuck } = await judge(services, 'zombie', 0);
    assert.deepEqual({ documents, stuck }, { documents: 0, stuck: 0 });
  });
});
