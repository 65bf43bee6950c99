import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { turnsDuring } from '../../../test/support/measure.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { realWorld } from '../../app/world.ts';
import { open } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { splitText } from '../chunk/split.ts';
import { type FeedReader, feedHere } from '../crawl/feed-text.ts';
import { sitemapIn } from '../crawl/page-links.ts';
import { readLexicon } from '../entity/lexicon.ts';
import { extractEntities } from '../entity/local-extractor.ts';
import { meterHere } from '../fetch/browser/render.ts';
import { TextThreads } from './text-threads.ts';

const longCharacters = 1024 * 1024;
/** Work in this thread lets the event loop turn once or twice, to load modules. */
const turnsMin = 20;
const { signal } = new AbortController();
const sample = readFileSync(
  new URL('../../../test/samples/entity/news.md', import.meta.url),
  'utf8',
);

/** Different each time, so that nothing is cached. */
function textOf(characters: number): string {
  const parts: string[] = [];
  for (let length = 0; length < characters; length += parts.at(-1)?.length ?? 0) {
    parts.push(`# Part ${parts.length}\n\n${sample.replaceAll('the', `the ${parts.length}`)}\n\n`);
  }
  return parts.join('').slice(0, characters);
}

function setup(t: TestContext) {
  const threads = new TextThreads(realWorld());
  t.after(() => threads.close());
  return { threads, begun: countThreads(t) };
}

/** How many threads this process has started since. */
function countThreads(t: TestContext): () => number {
  let begun = 0;
  const count = (): void => {
    begun += 1;
  };
  process.on('worker', count);
  t.after(() => process.off('worker', count));
  return () => begun;
}

describe('the threads for long texts', () => {
  test('give the same result for a long text as this thread', async (t) => {
    const { threads, begun } = setup(t);
    const text = textOf(3 * limits.text.hereCharactersMax);
    assert.deepEqual(await threads.cut(text, signal), splitText(text));
    assert.deepEqual(
      await threads.findEntities(text, signal),
      extractEntities(text, await readLexicon()),
    );
    assert.equal(begun(), 1);
  });

  test('are not started for a short text', async (t) => {
    const { threads, begun } = setup(t);
    const text = textOf(limits.text.hereCharactersMax);
    assert.deepEqual(await threads.cut(text, signal), splitText(text));
    await threads.findEntities(text, signal);
    assert.equal(begun(), 0);
  });

  test('keep the event loop free while a long text is processed', async (t) => {
    const { threads } = setup(t);
    const text = textOf(longCharacters);
    for (const work of [threads.cut, threads.findEntities]) {
      const turns = await turnsDuring(() => work(text, signal));
      assert.ok(turns > turnsMin, `${turns} turns`);
    }
  });

  test('read what sites list: feeds, sitemaps, and pages that may be shells', async (t) => {
    const { threads, begun } = setup(t);
    const address = 'https://a.example/feed';
    const items = (count: number, item: (n: number) => string): string =>
      Array.from({ length: count }, (_, n) => item(n)).join('');
    const item = (n: number) => `<item><guid>${n}</guid><link>/${n}</link></item>`;
    const feed = { bytes: Buffer.from(`<rss><channel>${items(4000, item)}</channel></rss>`) };
    const asked = { ...feed, charset: 'utf-8', address };
    const place = (n: number) => `<url><loc>https://a.example/${n}</loc></url>`;
    const sitemap = Buffer.from(`<urlset>${items(4000, place)}</urlset>`);
    const scope = { page: address, site: 'a.example', include: [], exclude: ['/1*'] };
    const page = Buffer.from(`<script></script>${'<b>&amp;</b>'.repeat(20_000)}`);
    const entries = async (read: FeedReader) =>
      (await read(asked, signal)).map(({ key, bytes }) => `${key} ${Buffer.from(bytes)}`);
    assert.equal(String(await entries(threads.readFeed)), String(await entries(feedHere)));
    const noFeed = { ...asked, bytes: Buffer.alloc(longCharacters, '<item>') };
    await assert.rejects(threads.readFeed(noFeed, signal), { code: 'bad_response' });
    const { sitemap: inThread } = threads.finder;
    assert.deepEqual(await inThread(sitemap, scope, signal), sitemapIn(sitemap, scope));
    assert.equal(await threads.meter.isShell(page, signal), true);
    assert.equal(await threads.meter.words(page, signal), await meterHere.words(page, signal));
    assert.equal(begun(), 1);
  });

  test('stop aborted work at once and continue with the next text', async (t) => {
    const { threads } = setup(t);
    const stop = new AbortController();
    const long = textOf(4 * longCharacters);
    const canceled = Array.from({ length: limits.text.threadsMax + 1 }, () =>
      threads.findEntities(long, stop.signal),
    );
    const next = threads.cut(textOf(2 * limits.text.hereCharactersMax), signal);
    stop.abort(new Error('called off'));
    for (const each of canceled) await assert.rejects(each, /called off/);
    assert.ok((await next).length > 0);
  });

  test('accept no more texts than the limit, and none after closing', async (t) => {
    const { threads } = setup(t);
    const text = textOf(2 * limits.text.hereCharactersMax);
    const most = limits.text.threadsMax + limits.text.waitingMax;
    const asked = Array.from({ length: most }, () => threads.cut(text, signal));
    await assert.rejects(threads.cut(text, signal), { code: 'machine_busy' });
    const ended = Promise.allSettled(asked);
    await threads.close();
    assert.ok((await ended).every(({ status }) => status === 'rejected'));
    await assert.rejects(threads.cut(text, signal), { code: 'canceled' });
  });
});

test('the static embedder yields to the event loop on a long document', async () => {
  const embedder = staticEmbedder();
  const texts = splitText(textOf(longCharacters)).map(({ text }) => text);
  const turns = await turnsDuring(() => embedder.embed(texts, signal));
  const expected = longCharacters / limits.text.embeddedAtOnceCharacters;
  assert.ok(turns >= expected - 1, `${turns} of ${expected} turns`);
});

test('a long document is ingested with threads, and a short one without', async (t) => {
  const pawl = await open({ data: join(temporaryDirectory(t), 'data') });
  t.after(() => pawl.close());
  const begun = countThreads(t);
  const ingest = async (text: string): Promise<void> => {
    const job = await pawl.ingest([{ text }], { corpus: 'long' });
    const kinds: string[] = [];
    for await (const { kind } of job.events()) kinds.push(kind);
    assert.equal(kinds.at(-1), 'job_succeeded');
  };
  await ingest(textOf(limits.text.hereCharactersMax));
  assert.equal(begun(), 0);
  await ingest(textOf(2 * limits.text.hereCharactersMax));
  assert.ok(begun() > 0);
});
