/** Corpora that follow pages, sites and feeds. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { documentsOf, syncNow, told } from '../support/sync-scene.ts';
import { htmlPage, startSite } from '../support/sync-site.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const corpus = 'docs';
const name = 'web';

async function setup(t: TestContext, pages: Readonly<Record<string, string | number>>) {
  const site = await startSite(t, pages);
  const root = temporaryDirectory(t);
  const pawl = await open({
    data: join(root, 'store'),
    allowHosts: [site.host],
    pace: { '127.0.0.1': { concurrency: 2, intervalMs: 0 } },
  });
  t.after(() => pawl.close());
  const follow = (location: string, more: Record<string, unknown> = {}) =>
    sessionOf(pawl).ask('POST /sources', {
      body: { corpus_name: corpus, location, name, ...more },
    });
  const texts = async () => documentsOf(pawl, corpus, site.origin);
  const keys = async () => [...(await texts()).keys()].sort();
  const run = async () => told(await syncNow(pawl, name));
  return { site, pawl, root, follow, texts, keys, run };
}

describe('a corpus that follows a list of pages', () => {
  const pages = {
    '/a': htmlPage('A', 'The heron waits.'),
    '/b': htmlPage('B', 'The kingfisher dives.'),
    '/c': htmlPage('C', 'The crane stands.'),
  };

  test('reads HTML as HTML, whatever its address ends with', async (t) => {
    const paths = ['/a.php', '/b.json', '/c.xml', '/d.py', '/e.md', '/f.csv'];
    const found = paths.map((path) => [path, htmlPage(path, 'The heron waits.')] as const);
    const { site, follow, texts, run } = await setup(t, {
      ...Object.fromEntries(found),
      '/g.py': "print('The heron waits.')",
    });
    const locations = [...paths, '/g.py'].map((path) => `${site.origin}${path}`);
    await follow(locations.join(' '), { kind: 'urls' });
    assert.equal(await run(), 'succeeded, added 7');
    const documents = await texts();
    for (const path of paths) {
      const { text } = documents.get(path.slice(1)) ?? {};
      assert.ok(text?.includes('The heron waits.') && !text.includes('<'), text);
    }
    assert.match(documents.get('g.py')?.text ?? '', /print\('The heron/);
  });

  test('reads each page once, and asks conditionally afterwards', async (t) => {
    const { site, root, follow, texts, keys, run } = await setup(t, pages);
    const list = join(root, 'list.txt');
    const write = (...paths: readonly string[]): void =>
      writeFileSync(list, `# pages\n${paths.map((path) => `${site.origin}${path}`).join('\n')}\n`);
    write('/a', '/b', '/c');
    await follow(list, { kind: 'urls' });
    assert.equal(await run(), 'succeeded, added 3');
    assert.deepEqual(site.bodies(), ['/a', '/b', '/c']);
    assert.equal(await run(), 'succeeded, unchanged 3');
    assert.deepEqual(site.bodies(), []);
    site.pages.set('/b', htmlPage('B', 'The kingfisher rests.'));
    assert.equal(await run(), 'succeeded, changed 1, unchanged 2');
    assert.deepEqual(site.bodies(), ['/b']);
    assert.match((await texts()).get('b')?.text ?? '', /rests/);
    write('/a', '/b');
    assert.equal(await run(), 'succeeded, removed 1, unchanged 2');
    site.pages.delete('/a');
    assert.equal(await run(), 'succeeded, removed 1, unchanged 1');
    assert.deepEqual(await keys(), ['b']);
  });

  test('keeps everything while one page cannot be read', async (t) => {
    const { site, pawl, follow, keys, run } = await setup(t, pages);
    const all = Object.keys(pages).map((path) => `${site.origin}${path}`);
    await follow(all.join(' '));
    assert.equal(await run(), 'succeeded, added 3');
    site.pages.set('/b', 503);
    assert.equal(await run(), 'partial, unchanged 2');
    assert.equal((await keys()).length, 3);
    const failing = await sessionOf(pawl).ask('GET /sources/:name', { params: { name } });
    assert.deepEqual([failing.state, failing.error?.code], ['failing', 'http_5xx']);
    site.pages.set('/b', pages['/b']);
    assert.equal(await run(), 'succeeded, unchanged 3');
  });
});

describe('a corpus that follows a site', () => {
  test('follows links, without a body of an unchanged page', async (t) => {
    const { site, follow, texts, keys, run } = await setup(t, {
      '/': htmlPage('Home', 'The start.', '/a', '/b', '/private'),
      '/a': htmlPage('A', 'The heron waits.', '/deep'),
      '/b': htmlPage('B', 'The kingfisher dives.'),
      '/deep': htmlPage('Deep', 'The crane stands.'),
      '/private': htmlPage('Private', 'Nobody reads it.'),
      '/robots.txt': 'User-agent: *\nDisallow: /private',
    });
    await follow(`${site.origin}/`, { kind: 'site' });
    assert.equal(await run(), 'succeeded, added 4');
    assert.deepEqual(await keys(), ['', 'a', 'b', 'deep']);
    assert.ok(!site.answers.some((answer) => answer.endsWith('/private')));
    site.bodies();
    assert.equal(await run(), 'succeeded, unchanged 4');
    assert.deepEqual(site.bodies(), []);
    // The link to a new page is on a changed one; its old link is known although it is unchanged.
    site.pages.set('/b', htmlPage('B', 'The kingfisher rests.', '/new'));
    site.pages.set('/new', htmlPage('New', 'An owl.'));
    assert.equal(await run(), 'succeeded, added 1, changed 1, unchanged 3');
    assert.deepEqual(site.bodies(), ['/b', '/new']);
    assert.match((await texts()).get('b')?.text ?? '', /rests/);
  });

  test('removes a page that is gone, and one without links only after two runs', async (t) => {
    const { site, follow, keys, run } = await setup(t, {
      '/': htmlPage('Home', 'The start.', '/a', '/b'),
      '/a': htmlPage('A', 'The heron waits.'),
      '/b': htmlPage('B', 'The kingfisher dives.'),
    });
    await follow(`${site.origin}/`, { kind: 'site' });
    await run();
    site.pages.set('/a', 410);
    assert.equal(await run(), 'succeeded, removed 1, unchanged 2');
    site.pages.set('/', htmlPage('Home', 'The start again.'));
    assert.equal(await run(), 'succeeded, changed 1');
    assert.deepEqual(await keys(), ['', 'b']);
    site.pages.set('/', htmlPage('Home', 'The start.', '/b'));
    assert.equal(await run(), 'succeeded, changed 1, unchanged 1');
    site.pages.set('/', htmlPage('Home', 'The start again.'));
    assert.equal(await run(), 'succeeded, changed 1');
    assert.equal(await run(), 'succeeded, removed 1, unchanged 1');
    assert.deepEqual(await keys(), ['']);
  });

  test('fails without a change while its first page cannot be read', async (t) => {
    const { site, follow, keys, run } = await setup(t, {
      '/': htmlPage('Home', 'The start.', '/a'),
      '/a': htmlPage('A', 'The heron waits.'),
    });
    await follow(`${site.origin}/`, { kind: 'site' });
    await run();
    for (const status of [500, 404, 403]) {
      site.pages.set('/', status);
      assert.equal(await run(), 'failed');
      assert.equal((await keys()).length, 2);
    }
  });

  test('asks a page of a sitemap only if its date is new', async (t) => {
    const map = (dates: Readonly<Record<string, string | undefined>>, origin: string): string => {
      const rows = Object.entries(dates).map(([path, date]) => {
        const modified = date === undefined ? '' : `<lastmod>${date}</lastmod>`;
        return `<url><loc>${origin}${path}</loc>${modified}</url>`;
      });
      return `<?xml version="1.0"?><urlset>${rows.join('')}</urlset>`;
    };
    const { site, follow, texts, keys, run } = await setup(t, {
      '/a': htmlPage('A', 'The heron waits.'),
      '/b': htmlPage('B', 'The kingfisher dives.'),
      '/c': htmlPage('C', 'The crane stands.'),
    });
    const dates: Record<string, string | undefined> = { '/a': '2026-01-01', '/b': '2026-01-01' };
    site.pages.set('/sitemap.xml', map({ ...dates, '/c': undefined }, site.origin));
    await follow(`${site.origin}/sitemap.xml`);
    assert.equal(await run(), 'succeeded, added 3');
    site.answers.length = 0;
    assert.equal(await run(), 'succeeded, unchanged 3');
    assert.deepEqual(site.answers, ['200 /sitemap.xml', '304 /c']);
    site.pages.set('/a', htmlPage('A', 'The heron flies.'));
    const changed = { '/a': '2026-02-01', '/b': '2026-02-01', '/c': undefined };
    site.pages.set('/sitemap.xml', map(changed, site.origin));
    assert.equal(await run(), 'succeeded, changed 1, unchanged 2');
    assert.match((await texts()).get('a')?.text ?? '', /flies/);
    site.pages.set('/sitemap.xml', '<html>moved</html>');
    assert.equal(await run(), 'failed');
    assert.deepEqual(await keys(), ['a', 'b', 'c']);
  });
});

describe('what a site lists is read in a thread if it is long', () => {
  const filler = `<!-- ${'a'.repeat(limits.text.hereCharactersMax)} -->`;
  const bird = htmlPage('A', 'The heron waits.');
  const entry = '<item><title>A</title><link>/a</link><description>Heron</description></item>';
  const rows: readonly [place: string, body: (origin: string) => string, found: number][] = [
    ['/feed.xml', () => `<rss><channel>${filler}${entry}</channel></rss>`, 1],
    ['/sitemap.xml', (origin) => `<urlset>${filler}<url><loc>${origin}/a</loc></url></urlset>`, 1],
    ['/', () => `${htmlPage('Birds', 'All the birds.', '/a')}${filler}`, 2],
  ];
  for (const [place, body, found] of rows) {
    test(`from ${place}`, async (t) => {
      const { site, follow, run } = await setup(t, { '/a': bird });
      site.pages.set(place, body(site.origin));
      await follow(`${site.origin}${place}`, place === '/' ? { kind: 'site' } : {});
      let threads = 0;
      const count = (): void => {
        threads += 1;
      };
      process.on('worker', count);
      t.after(() => process.off('worker', count));
      assert.equal(await run(), `succeeded, added ${found}`);
      // The documents themselves are short.
      assert.equal(threads, 1);
    });
  }
});
