/** A corpus that follows a feed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { readFeed } from '../../src/pipeline/crawl/feed-text.ts';
import { documentsOf, syncNow, told } from '../support/sync-scene.ts';
import { startSite } from '../support/sync-site.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const corpus = 'news';
const name = 'feed';

const item = (number: number, text: string): string =>
  `<item><title>Bird ${number}</title><link>/birds/${number}</link><guid>${number}</guid>
  <description>&lt;p&gt;${text}&lt;/p&gt;</description></item>`;
const rss = (...items: readonly string[]): string =>
  `<?xml version="1.0"?><rss><channel><title>Birds</title>${items.join('')}</channel></rss>`;

async function setup(t: TestContext, feed: string) {
  const site = await startSite(t, { '/feed.xml': feed });
  const pawl = await open({
    data: join(temporaryDirectory(t), 'store'),
    allowHosts: [site.host],
    pace: { '127.0.0.1': { concurrency: 2, intervalMs: 0 } },
  });
  t.after(() => pawl.close());
  await sessionOf(pawl).ask('POST /sources', {
    body: { corpus_name: corpus, location: `${site.origin}/feed.xml`, name },
  });
  const run = async () => told(await syncNow(pawl, name));
  const texts = () => documentsOf(pawl, corpus, site.origin);
  return { site, pawl, run, texts };
}

describe('a corpus that follows a feed', () => {
  test('keeps entries that have left the feed, and takes new and changed ones', async (t) => {
    const heron = item(1, 'The heron waits.');
    const owl = item(2, 'The owl sleeps.');
    const { site, run, texts } = await setup(t, rss(heron, owl));
    assert.equal(await run(), 'succeeded, added 2');
    site.bodies();
    assert.equal(await run(), 'succeeded');
    assert.deepEqual(site.answers, ['304 /feed.xml']);
    const crane = item(3, 'The crane stands.');
    site.pages.set('/feed.xml', rss(crane, item(2, 'The owl is awake.')));
    assert.equal(await run(), 'succeeded, added 1, changed 1');
    const documents = await texts();
    assert.deepEqual([...documents.keys()].sort(), ['birds/1', 'birds/2', 'birds/3']);
    assert.match(documents.get('birds/2')?.text ?? '', /owl is awake/);
    assert.match(documents.get('birds/1')?.text ?? '', /heron waits/);
  });

  test('reads entries without an address, and those whose address names a file', async (t) => {
    const entries = [
      '<item><title>One</title><description>The heron waits.</description></item>',
      '<item><title>Two</title><link>/report.json</link><description>The owl.</description></item>',
    ];
    const { run, texts } = await setup(t, rss(...entries));
    assert.equal(await run(), 'succeeded, added 2');
    const found = [...(await texts()).values()].map(({ text }) => text).sort();
    assert.match(found[0] ?? '', /^# One\s+The heron waits\.$/);
    assert.match(found[1] ?? '', /^# Two\s+The owl\.$/);
  });

  test('fails, and keeps its documents, while the address has no feed', async (t) => {
    const { site, run, texts, pawl } = await setup(t, rss(item(1, 'The heron waits.')));
    await run();
    site.pages.set('/feed.xml', '<html><p>Under construction</html>');
    assert.equal(await run(), 'failed');
    const { error } = await sessionOf(pawl).ask('GET /sources/:name', { params: { name } });
    assert.equal(error?.code, 'bad_response');
    site.pages.delete('/feed.xml');
    assert.equal(await run(), 'failed');
    assert.equal((await texts()).size, 1);
  });
});

describe('the entries of a feed', () => {
  const feed = new URL('https://a.example/feed');
  const read = (text: string) =>
    readFeed(text, feed).map(({ key, bytes }) => [key, Buffer.from(bytes).toString()] as const);

  test('of Atom are found below the base of the feed, the entry and the link', () => {
    const text = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/">
      <entry><link href="one"/></entry>
      <entry xml:base="2024/"><link href="two"/></entry>
      <entry xml:base="2024/"><link xml:base="https://b.example/" href="three"/></entry>
      <entry xml:base="http://["><link href="/four"/></entry></feed>`;
    assert.deepEqual(
      read(text).map(([key]) => key),
      [
        'https://a.example/blog/one',
        'https://a.example/blog/2024/two',
        'https://b.example/three',
        'https://a.example/four',
      ],
    );
  });

  test('of Atom keep the paragraphs of XHTML', () => {
    const text = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><content type="xhtml">
      <h:div xmlns:h="x"><h:p class="a">One &lt; 2</h:p><h:p>Three</h:p></h:div>
      </content></entry></feed>`;
    assert.match(read(text)[0]?.[1] ?? '', /<div><p>One &lt; 2<\/p><p>Three<\/p><\/div>/);
  });

  test('of Atom have the address of their page', () => {
    const text = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>tag:1</id>
      <title>A &amp; B</title><link rel="self" href="/self"/><link href="/one"/>
      <content type="html">&lt;p&gt;Heron&lt;/p&gt;</content></entry>
      <entry><id>tag:2</id><title>Two</title><summary>1 &lt; 2</summary></entry></feed>`;
    const [one, two] = read(text);
    assert.equal(one?.[0], 'https://a.example/one');
    assert.match(one?.[1] ?? '', /<h1>A &amp; B<\/h1><p>Heron<\/p>/);
    assert.equal(two?.[0], 'https://a.example/feed#tag%3A2');
    assert.match(two?.[1] ?? '', /<p>1 &lt; 2<\/p>/);
  });

  test('of JSON Feed and of RSS 1.0 are read as well', () => {
    const json = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      items: [{ id: 7, url: '/seven', title: 'Seven', content_text: 'Heron' }, null, {}],
    });
    assert.deepEqual(
      read(json).map(([key]) => key),
      ['https://a.example/seven'],
    );
    const rss1 = '<item><title>T</title><link>/t</link></item>';
    const rdf = `<rdf:RDF xmlns:rdf="x"><channel/>${rss1}</rdf:RDF>`;
    assert.deepEqual(
      read(rdf).map(([key]) => key),
      ['https://a.example/t'],
    );
  });

  test('are taken once, and links that are no addresses are ids', () => {
    const text = rss(
      ...[item(1, 'first'), item(1, 'second')],
      '<item><guid isPermaLink="false">x y</guid><link>javascript:alert(1)</link></item>',
    );
    assert.deepEqual(
      read(text).map(([key]) => key),
      ['https://a.example/birds/1', 'https://a.example/feed#x%20y'],
    );
  });

  for (const text of ['', '{', '{}', '[]', '<html/>', '<rss/>', 'plain text', '<rss><channel>']) {
    test(`are not found in ${JSON.stringify(text)}`, () => {
      assert.throws(() => readFeed(text, feed), { code: 'bad_response' });
    });
  }
});
