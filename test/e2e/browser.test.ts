/** Sites whose text is created by scripts, from the address to the search. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt } from '../../src/contract/operation/attempt.ts';
import { type OpenOptions, open } from '../../src/index.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

/** An application of three pages: one shell, one script, and the texts as JSON. */
const shell =
  '<!doctype html><title>App</title><div id="app"></div><script src="/app.js"></script>';
const application = `
  const name = location.pathname === '/' ? 'home' : location.pathname.slice(1);
  fetch('/texts/' + name + '.json').then((answer) => answer.json()).then(({ text, links }) => {
    app.innerHTML = '<h1>' + name + '</h1><p>' + text + '</p>' +
      links.map((link) => '<a href="' + link + '">' + link + '</a>').join(' ');
  });`;
const text = (words: string, ...links: string[]): string =>
  JSON.stringify({ text: `${words} `.repeat(10), links });
const site = {
  '/': shell,
  '/quince': shell,
  '/harmonium': shell,
  '/app.js': application,
  '/texts/home.json': text('Welcome to this orchard of music.', '/quince', '/harmonium'),
  '/texts/quince.json': text('The quince ripens in October.', '/'),
  '/texts/harmonium.json': text('The harmonium is played in the evening.', '/quince'),
};

async function setup(t: Cleanup, options: OpenOptions, robots = '') {
  const server = await serveWeb(t, pagesOf({ ...site, '/robots.txt': robots }));
  const pawl = await open({
    data: temporaryDirectory(t),
    allowHosts: [server.host],
    ...options,
  });
  t.after(() => pawl.close());
  return { pawl, server };
}

describe('a site whose text is created by scripts', () => {
  test('is crawled and found with a configured browser', async (t) => {
    const { pawl, server } = await setup(t, { browser: 'auto' });
    const job = await pawl.ingest([server.origin], { corpus: 'app', crawl: { depth: 2 } });
    const { state, itemsDone, itemsFailed } = await job.wait();
    assert.deepEqual([state, itemsDone, itemsFailed], ['succeeded', 3, 0]);
    const [hit] = await pawl.search('app', 'when does the quince ripen');
    assert.equal(hit?.sourceUrl, `${server.origin}/quince`);
    const fetched = [];
    let failures = 0;
    for await (const event of job.events()) {
      if (event.step !== 'fetched') continue;
      if (event.kind === 'step_completed') fetched.push(event.detail);
      if (event.kind === 'step_failed') failures += 1;
    }
    assert.ok(fetched.every((detail) => detail?.rendered instanceof Object));
    const shells = server.asked.filter((path) => path in site && !/\.js/.test(path));
    // On a busy machine, a page may take longer than a try may.
    assert.equal(shells.length, 3 + failures, 'no page is read twice in one try');
  });

  test('is in the inbox without a browser', async (t) => {
    const { pawl, server } = await setup(t, {});
    const job = await pawl.ingest([server.origin], { corpus: 'app' });
    await job.wait();
    assert.deepEqual(
      (await job.summary()).causes.map(({ cause }) => cause),
      ['no_usable_content'],
    );
    assert.equal(server.asked.includes('/app.js'), false);
  });

  test('is not rendered where robots.txt forbids it', async (t) => {
    const robots = 'User-agent: *\nDisallow: /texts/';
    const { pawl, server } = await setup(t, { browser: 'auto' }, robots);
    const job = await pawl.ingest([server.origin], { corpus: 'app' });
    await job.wait();
    assert.deepEqual(
      (await job.summary()).causes.map(({ cause }) => cause),
      ['no_usable_content'],
    );
    assert.ok(server.asked.includes('/app.js'));
    assert.equal(
      server.asked.some((path) => path.startsWith('/texts/')),
      false,
    );
  });

  test('is shown by pawl extract as it would be indexed', async (t) => {
    const server = await serveWeb(t, pagesOf(site));
    const place = openRunner(t);
    const run = (browser: string) => {
      const environment = { PAWL_ALLOW_HOSTS: server.host, PAWL_BROWSER: browser };
      return place.run(['extract', `${server.origin}/quince`], { environment });
    };
    const shown = await run('auto');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /The quince ripens in October/);
    const unshown = await run('off');
    assert.deepEqual([unshown.code, /no_usable_content/.test(unshown.stderr)], [2, true]);
  });

  test('is also rendered for the interactive attempt', async (t) => {
    const server = await serveWeb(t, pagesOf(site));
    const bench = await openBench(t, { browser: 'auto', allowHosts: [server.host] });
    const form = new FormData();
    form.append('url', `${server.origin}/quince`);
    await fetch(`${bench.service.address}/staging`, { method: 'POST', body: form });
    await bench.ask('POST /attempt/start', { body: { corpus_name: 'app' } });
    const looked = async () => {
      const { body } = await bench.ask<Attempt>('GET /attempt');
      return body.status === 'complete' ? body : undefined;
    };
    const { job_id } = await until(looked, { what: 'the end of the attempt' });
    assert.equal((await bench.ended(job_id ?? '')).items_done, 1);
    const [hit] = await bench.service.pawl.search('app', 'when does the quince ripen');
    assert.equal(hit?.sourceUrl, `${server.origin}/quince`);
  });

  test('has separate doctor checks for the browser and the store', async (t) => {
    const runner = openRunner(t);
    const environment = { PAWL_BROWSER: '/no/such/browser' };
    const { code, stdout } = await runner.run(['doctor'], { environment });
    assert.equal(code, 1);
    assert.match(stdout, /fail +browser +there is no browser at/);
    assert.match(stdout, /ok +store/);
  });

  test('refuses to start with a missing browser', async (t) => {
    const options = { data: temporaryDirectory(t), browser: '/no/such/browser' };
    await assert.rejects(open(options), { code: 'usage_error' });
  });
});
