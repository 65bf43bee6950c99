import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { type CrawlInput, type Event, open, type Pawl } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { sessionOf } from '../../library/internal.ts';
import { crawlFrom, urlSource } from '../../source/sources.ts';
import { setGateLimits } from '../../store/item/gates.ts';
import { linksOf } from './links.ts';
import { globOf, scopeOf } from './scope.ts';
import { parseSitemap } from './sitemap-text.ts';

const linkTo = (path: string): string => `<a href="${path}">x</a>`;
const page = (title: string, ...links: string[]): string =>
  `<title>${title}</title><p>This is ${title}.</p>${links.map(linkTo).join('')}`;

/** A site on loopback: paths to pages, or to a redirect if the text begins with `->`. */
async function setup(t: TestContext, site: Record<string, string | Buffer>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const body = site[path];
    if (body === undefined) response.writeHead(404).end();
    else if (String(body).startsWith('->')) {
      response.writeHead(302, { Location: String(body).slice(2) }).end();
    } else response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const data = temporaryDirectory(t);
  const opened = new Set<Pawl>();
  const close = async (pawl: Pawl): Promise<void> => {
    if (opened.delete(pawl)) await pawl.close();
  };
  t.after(async () => {
    for (const pawl of opened) await close(pawl);
    server.closeAllConnections();
    server.close();
  });
  const openStore = async () => {
    const pawl = await open({ data, allowHosts: [host] });
    opened.add(pawl);
    return pawl;
  };
  const pawl = await openStore();
  await sessionOf(pawl).store.write((transaction) =>
    setGateLimits(transaction, { name: '127.0.0.1', concurrency: 2, intervalMs: 0 }, 0),
  );
  // Removes the politeness delay, which a test does not wait for.
  await sessionOf(pawl).store.write(async (transaction) => {
    await transaction.run({
      text: `CREATE TRIGGER hurry AFTER UPDATE OF interval_ms, next_at ON gates
        BEGIN UPDATE gates SET interval_ms = 0, next_at = 0 WHERE name = NEW.name; END`,
    });
  });
  const crawl = async (input: CrawlInput, path = '/') => {
    const job = await pawl.ingest([`http://${host}${path}`], { corpus: 'site', crawl: input });
    const events: Event[] = [];
    for await (const event of job.events()) events.push(event);
    return { job, events, pages: asked.filter((each) => !/robots|sitemap/.test(each)).sort() };
  };
  return { pawl, openStore, close, crawl, asked, host };
}

describe('a crawl', () => {
  test('follows links within the site, each page once, however it is written', async (t) => {
    const { crawl, pawl } = await setup(t, {
      '/': page('home', '/a', '/a#part', '/A/../a?utm_source=x', 'http://other.example/', '/b'),
      '/a': page('alpha', '/', '/b', 'mailto:me@a.example', 'javascript:x', '/image.png'),
      '/b': page('beta', '/c'),
      '/c': page('gamma'),
    });
    const { events, pages } = await crawl({});
    assert.deepEqual(pages, ['/', '/a', '/b', '/c']);
    assert.equal(events.at(-1)?.kind, 'job_succeeded');
    assert.match(String(events.at(-1)?.detail?.reason), /^4 done, 0 failed, 0 canceled of 4$/);
    assert.equal((await pawl.search('site', 'gamma', { mode: 'keyword' })).length, 1);
  });

  test('respects its depth and page limits', async (t) => {
    const site: Record<string, string> = { '/': page('home', '/1', '/x', '/y') };
    for (let at = 1; at < 10; at += 1) site[`/${at}`] = page(`page ${at}`, `/${at + 1}`);
    site['/x'] = page('x');
    site['/y'] = page('y');
    const shallow = await setup(t, site);
    assert.deepEqual((await shallow.crawl({ depth: 2 })).pages, ['/', '/1', '/2', '/x', '/y']);
    const small = await setup(t, site);
    assert.equal((await small.crawl({ limit: 3 })).pages.length, 3);
  });

  test('takes included pages, and no excluded or forbidden ones', async (t) => {
    const { crawl } = await setup(t, {
      '/robots.txt': 'User-agent: *\nDisallow: /docs/secret',
      '/': page('home', '/docs/a', '/docs/old/b', '/blog/c', '/docs/secret'),
      '/docs/a': page('a'),
      '/docs/old/b': page('b'),
      '/blog/c': page('c'),
    });
    const { pages } = await crawl({ include: ['/docs/**'], exclude: ['/docs/old/*'] });
    assert.deepEqual(pages, ['/', '/docs/a']);
  });

  test('reads the sitemaps of the site, through an index and compressed', async (t) => {
    const site: Record<string, string | Buffer> = { '/': page('home'), '/deep': page('deep') };
    const { crawl, host } = await setup(t, site);
    const map = (kind: string, path: string) =>
      `<?xml version="1.0"?><${kind}><url><loc>http://${host}${path}</loc></url></${kind}>`;
    site['/robots.txt'] = `Sitemap: http://${host}/sitemap-index.xml`;
    site['/sitemap-index.xml'] = map('sitemapindex', '/sitemap.xml.gz');
    site['/sitemap.xml.gz'] = gzipSync(map('urlset', '/deep'));
    assert.deepEqual((await crawl({})).pages, ['/', '/deep']);
  });

  test('takes a page that another redirects to only once', async (t) => {
    const { crawl } = await setup(t, {
      '/': '->/home',
      '/home': page('home', '/home', '/a'),
      '/a': page('a', '/home', '/'),
    });
    assert.deepEqual((await crawl({})).pages, ['/', '/a', '/home']);
  });

  test('counts what it finds, reads and makes, under the known names', async (t) => {
    const { crawl } = await setup(t, {
      '/': page('home', '/a', '/gone'),
      '/a': page('a'),
    });
    const { job } = await crawl({});
    const { counters } = await job.summary();
    const { durationSeconds, tokensEstimated, steps, ...counts } = counters;
    assert.deepEqual(counts, {
      urlsTotal: 3,
      urlsEnqueued: 3,
      urlsProcessed: 3,
      documentsEmitted: 2,
      chunksIndexed: 2,
    });
    assert.ok(tokensEstimated > 0 && durationSeconds > 0);
  });

  test('records for each page what robots.txt said', async (t) => {
    const { crawl } = await setup(t, {
      '/robots.txt': 'User-agent: *\nDisallow: /private\nAllow: /private/but',
      '/': page('home', '/private/but', '/away'),
      '/private/but': page('but'),
      '/away': '->/private/a',
    });
    const { job } = await crawl({});
    const told = new Set<string>();
    for await (const { kind, step, detail } of job.events()) {
      if (!/^step_(?:completed|failed)$/.test(kind) || step !== 'fetched') continue;
      told.add(`${detail?.code ?? 'ok'}, ${detail?.robots}`);
    }
    assert.deepEqual([...told].sort(), [
      'ok, allowed: Allow: /private/but',
      'ok, allowed: no rule speaks of it',
      'robots_disallowed, disallowed: Disallow: /private',
    ]);
  });

  test('skips the links that robots.txt forbids, without a failure', async (t) => {
    const { crawl, asked } = await setup(t, {
      '/robots.txt': 'User-agent: *\nDisallow: /private',
      '/': page('home', '/private/a', '/private/b', '/c'),
      '/c': page('c', '/private/d'),
    });
    // Skipped links do not count towards the limit either.
    const { job, events, pages } = await crawl({ limit: 2 });
    assert.deepEqual(pages, ['/', '/c']);
    const found = events.filter(({ kind }) => kind === 'pages_found');
    assert.deepEqual(
      found.map(({ detail }) => [detail?.found, detail?.added, detail?.forbidden]),
      [
        [1, 1, 2],
        [0, 0, 1],
      ],
    );
    assert.equal((await job.summary()).itemsFailed, 0);
    assert.equal(asked.filter((path) => path === '/robots.txt').length, 1);
  });

  test('fails the page that a person named and robots.txt forbids', async (t) => {
    const { crawl } = await setup(t, {
      '/robots.txt': 'User-agent: *\nDisallow: /private',
      '/private/': page('private', '/a'),
    });
    const { job, pages } = await crawl({}, '/private/');
    assert.deepEqual(pages, []);
    assert.equal((await job.summary()).itemsFailed, 1);
  });

  test('respects nofollow on pages and links', async (t) => {
    const { crawl } = await setup(t, {
      '/': `${page('home', '/a')}<a rel="ugc nofollow" href="/b">b</a>`,
      '/a': `<meta name="robots" content="noindex, nofollow">${page('a', '/c')}`,
    });
    assert.deepEqual((await crawl({})).pages, ['/', '/a']);
  });

  test('continues where it was when its process ended', async (t) => {
    const site: Record<string, string> = {};
    for (let at = 0; at < 30; at += 1) {
      site[at === 0 ? '/' : `/${at}`] = page(`page ${at}`, `/${2 * at + 1}`, `/${2 * at + 2}`);
    }
    const { pawl, openStore, close, asked, host } = await setup(t, site);
    const job = await pawl.ingest([`http://${host}/`], {
      corpus: 'site',
      crawl: { depth: 10, limit: 30 },
    });
    let fetched = 0;
    for await (const { kind, step } of job.events()) {
      if (kind === 'step_completed' && step === 'fetched') fetched += 1;
      if (fetched === 7) break;
    }
    await close(pawl);
    const again = await (await openStore()).job(job.id);
    for await (const { kind } of again.events()) if (kind === 'job_succeeded') break;
    const pages = asked.filter((path) => !/robots|sitemap/.test(path));
    assert.equal(new Set(pages).size, 30);
    assert.ok(pages.length <= 32, 'only pages in flight are read again');
  });
});

describe('links', () => {
  const rows: readonly [html: string, links: string[]][] = [
    ['<a href="/b">', ['http://a.example/b']],
    ["<A HREF='b'>", ['http://a.example/x/b']],
    ['<a class=x href=b>', ['http://a.example/x/b']],
    ['<a\n  href="b"\n>', ['http://a.example/x/b']],
    ['<area href="b">', ['http://a.example/x/b']],
    ['<base href="/y/"><a href="b">', ['http://a.example/y/b']],
    ['<a href="?a=1&amp;b=2#c">', ['http://a.example/x/?a=1&b=2']],
    ['<a href="//b.example/">', ['http://b.example/']],
    ['<a href="">', []],
    ['1 < 2 <a href=/b?c=d>', ['http://a.example/b?c=d']],
    ['<a data-x="1" disabled href="/b"/>', ['http://a.example/b']],
    ['<a name="b">', []],
    ['<a href="http://user:secret@a.example/">', []],
    ['<a href="ftp://a.example/">', []],
    ['<!-- <a href="b"> -->', []],
    ['<script>"<a href=b>"</script>', []],
    ['<a href="http://[">', []],
    ['<abbr href="b">', []],
    ['<a rel=nofollow href=b>', []],
    ['<meta name=robots content=none><a href=b>', []],
    ['<a href="b"><a href="b#c">', ['http://a.example/x/b']],
  ];
  for (const [html, links] of rows) {
    test(`of ${JSON.stringify(html)}`, () => {
      const found = linksOf(html, new URL('http://a.example/x/'));
      assert.deepEqual(
        found.map(({ href }) => href),
        links,
      );
    });
  }

  test('of a hostile page are read quickly', () => {
    for (const unit of ['<a ', '<a href="', '<!--', '<script>', '<', 'a=b ']) {
      const html = `<a ${unit.repeat(200_000)}`;
      assertCpuMs(2000, () => linksOf(html, new URL('http://a.example/')), unit);
    }
  });
});

describe('a glob', () => {
  const rows: readonly [glob: string, url: string, expected: boolean][] = [
    ['/docs/*', 'http://a.example/docs/b', true],
    ['/docs/*', 'http://a.example/docs/b/c', false],
    ['/docs/**', 'http://a.example/docs/b/c', true],
    ['/docs/**', 'http://a.example/other', false],
    ['/?', 'http://a.example/b', true],
    ['*', 'http://a.example/', false],
    ['**', 'http://a.example/', true],
    ['http://a.example/b.html', 'http://a.example/b.html', true],
    ['http://a.example/b.html', 'http://a.example/bxhtml', false],
    ['/list*', 'http://a.example/list?page=2', true],
  ];
  for (const [glob, url, expected] of rows) {
    test(`${glob} ${expected ? 'takes' : 'leaves'} ${url}`, () => {
      assert.equal(globOf(glob)(new URL(url)), expected);
    });
  }

  test('with very many wildcards is refused before the crawl begins', () => {
    const most = limits.job.crawlWildcardsMax;
    const crawl = (glob: string) =>
      crawlFrom([urlSource('http://a.example/')], { include: ['/docs/**', glob] });
    assert.deepEqual(crawl(`/${'*a'.repeat(most)}`).include.length, 2);
    assert.throws(() => crawl(`/${'*a'.repeat(most + 1)}`), {
      code: 'bad_request',
      message: /has 33 wildcards; use 32 at most$/,
    });
    assert.throws(() => crawl(`/${'a'.repeat(1000)}`), { message: /more than 1000 characters$/ });
  });

  test('skips other sites and files without text', () => {
    const crawl = { site: 'a.example', depthMax: 1, pagesMax: 1, include: [], exclude: [] };
    const isInScope = scopeOf(crawl);
    const taken = [
      'http://a.example/',
      'http://www.a.example/b.pdf',
      'http://b.example/',
      'http://a.example/b.PNG',
    ].map((url) => isInScope(new URL(url)));
    assert.deepEqual(taken, [true, true, false, false]);
  });
});

describe('a sitemap', () => {
  test('of hostile text is read quickly', () => {
    const units = [' ', '\n', '<loc>', '<loc> ', '<a', 'http://a', '<![CDATA[', '<loc><![CDATA['];
    for (const unit of units) {
      for (const opening of ['', '<loc>', 'http://a.example/']) {
        const text = `${opening}${unit.repeat(1_000_000 / unit.length)}\u0001`;
        assertCpuMs(1000, () => void parseSitemap(text), `${opening}${JSON.stringify(unit)}`);
      }
    }
  });

  test('names pages or other sitemaps', () => {
    const places = ['http://a.example/?a&amp;b', '<![CDATA[http://a.example/c]]>'];
    const urls = places.map((place) => `<url><loc> ${place} </loc></url>`);
    const xml = `<urlset>${urls.join('')}</urlset>`;
    assert.deepEqual(parseSitemap(xml).pages, ['http://a.example/?a&b', 'http://a.example/c']);
    const index =
      '<sitemapindex xmlns="x"><sitemap><loc>http://a.example/1</loc></sitemap></sitemapindex>';
    assert.deepEqual(parseSitemap(index), {
      pages: [],
      sitemaps: ['http://a.example/1'],
      modified: new Map(),
    });
    assert.deepEqual(parseSitemap('http://a.example/1\nhttp://a.example/2\n').pages.length, 2);
    assert.deepEqual(parseSitemap('<html>not found</html>').pages, []);
  });
});
