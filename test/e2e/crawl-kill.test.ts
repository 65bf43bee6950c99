/** A crawl whose process is killed repeatedly resumes where it was. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { pagesOf, serveWeb } from '../support/web-server.ts';
import { openRunner } from './pawl-process.ts';

const pages = 60;
/** One kill fewer than an item survives: an item present at all of them would be blamed. */
const kills = [8, 30];

function siteOf(count: number): Record<string, string> {
  const link = (page: number): string =>
    page < count ? `<a href="/${page}">page ${page}</a>` : '';
  const site: Record<string, string> = { '/robots.txt': '' };
  for (let page = 0; page < count; page += 1) {
    const body = `<p>This is the page with the number ${page}.</p>`;
    const links = `${link(2 * page + 1)} ${link(2 * page + 2)}`;
    site[page === 0 ? '/' : `/${page}`] = `<title>Page ${page}</title>${body}${links}`;
  }
  return site;
}

test('a killed crawl resumes where it was, and fetches no page unnecessarily', async (t) => {
  const runner = openRunner(t);
  const respond = pagesOf(siteOf(pages));
  let isReached: (() => void) | undefined;
  const { origin, host, asked } = await serveWeb(t, (request, response) => {
    respond(request, response);
    const due = kills[0];
    if (due !== undefined && contentAsked().length >= due) isReached?.();
  });
  const contentAsked = (): string[] => asked.filter((path) => /^\/\d*$/.test(path));
  const environment = { PAWL_ALLOW_HOSTS: host, PAWL_PACE: '127.0.0.1=4/5' };
  const crawl = [
    'ingest',
    origin,
    '--corpus',
    'site',
    '--crawl',
    '--depth',
    '10',
    '--limit',
    '100',
  ];
  const rounds = kills.length;
  while (kills.length > 0) {
    const reached = new Promise<void>((resolve) => {
      isReached = resolve;
    });
    const { child, finished } = runner.start(crawl, { environment });
    await Promise.race([reached, finished]);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    kills.shift();
  }
  const before = contentAsked().length;
  assert.ok(before < pages, `${before} pages were read before the last start`);
  const { code, stderr } = await runner.run(crawl, { environment });
  assert.equal(code, 0, stderr);
  const read = contentAsked();
  assert.equal(new Set(read).size, pages);
  // Concurrency is four: pages in flight at a kill are fetched again, and no others.
  assert.ok(read.length <= pages + 4 * rounds, `${read.length} requests for ${pages} pages`);
  const jobs = await runner.readOne<{ items: { items_done: number }[] }>(['jobs']);
  assert.deepEqual(
    jobs.items.map(({ items_done }) => items_done),
    [pages],
    'it is one job',
  );
  const corpora = await runner.readOne<{ items: { documents: number }[] }>(['corpora']);
  assert.equal(corpora.items[0]?.documents, pages);
});
