import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { type Event, open } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { sessionOf } from '../../library/internal.ts';
import { getRobots } from '../../store/crawl/robots.ts';
import { getGateLimits, setGateLimits } from '../../store/item/gates.ts';

type Page = (request: IncomingMessage, response: ServerResponse) => void;

const html =
  (text: string, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(`<p>${text}</p>`);

/** A site on loopback, a store, and a function to ingest one page of the site. */
async function setup(t: TestContext, pages: Record<string, Page>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const page = pages[path];
    if (page) page(request, response);
    else response.writeHead(404).end('not found');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pawl = await open({ data: temporaryDirectory(t), allowHosts: [host] });
  t.after(async () => {
    await pawl.close();
    server.closeAllConnections();
    server.close();
  });
  // Tests do not wait for politeness delays.
  await sessionOf(pawl).store.write((transaction) =>
    setGateLimits(transaction, { name: '127.0.0.1', concurrency: 2, intervalMs: 0 }, 0),
  );
  const ingest = async (path: string, until: Event['kind'] = 'item_failed') => {
    const job = await pawl.ingest([`http://${host}${path}`], { corpus: 'site' });
    const events: Event[] = [];
    for await (const event of job.events()) {
      events.push(event);
      if (event.kind === until) break;
    }
    return events;
  };
  return { pawl, pages, asked, ingest, origin: `http://${host}` };
}

const detailOf = (events: readonly Event[], kind: Event['kind']) =>
  events.find((event) => event.kind === kind)?.detail;

describe('a page', () => {
  test('is read, indexed and found, and the history says how it was read', async (t) => {
    const { pawl, ingest, origin } = await setup(t, {
      '/robots.txt': (_, response) => response.end('User-agent: *\nDisallow: /private\nAllow: /p'),
      '/old': (_, response) => response.writeHead(301, { Location: '/page' }).end(),
      '/page': html('The refund policy is thirty days.'),
    });
    const events = await ingest('/old');
    const fetched = events.find(
      ({ kind, step }) => kind === 'step_completed' && step === 'fetched',
    );
    const { robots, status, final_url, redirects, media_type } = fetched?.detail ?? {};
    assert.equal(robots, 'allowed: Allow: /p');
    assert.equal(status, 200);
    assert.equal(final_url, `${origin}/page`);
    assert.equal(media_type, 'text/html');
    assert.equal((redirects as unknown[]).length, 1);
    const hits = await pawl.search('site', 'refund policy');
    assert.equal(hits.length, 1);
  });

  test('that robots.txt forbids is not requested, not even after a redirect', async (t) => {
    const { ingest, asked, pawl, origin } = await setup(t, {
      '/robots.txt': (_, response) => response.end('User-agent: PawlBot\nDisallow: /private'),
      '/way': (_, response) => response.writeHead(302, { Location: '/private/b' }).end(),
    });
    const failed = detailOf(await ingest('/private/a'), 'step_failed');
    assert.equal(failed?.code, 'robots_disallowed');
    assert.equal(failed?.robots, 'disallowed: Disallow: /private');
    assert.equal(detailOf(await ingest('/way'), 'step_failed')?.code, 'robots_disallowed');
    assert.deepEqual(asked, ['/robots.txt', '/way'], 'the rules were remembered');
    assert.equal((await getRobots(sessionOf(pawl).store, origin))?.status, 200);
  });

  test('is not requested while robots.txt is unavailable, and is retried', async (t) => {
    const { ingest, asked } = await setup(t, {
      '/robots.txt': (_, response) => response.writeHead(503).end(),
      '/page': html('text'),
    });
    const events = await ingest('/page', 'retry_scheduled');
    assert.equal(detailOf(events, 'step_failed')?.code, 'network_error');
    assert.deepEqual(asked, ['/robots.txt']);
  });

  test('that has not changed since is not read again', async (t) => {
    const versions = { etag: '"1"', text: 'the first version' };
    const seen: (string | undefined)[] = [];
    const { ingest, pawl } = await setup(t, {
      '/page': (request, response) => {
        const etag = request.headers['if-none-match'];
        seen.push(etag);
        if (etag === versions.etag) response.writeHead(304).end();
        else html(versions.text, { ETag: versions.etag })(request, response);
      },
    });
    await ingest('/page');
    assert.ok((await ingest('/page')).some(({ kind }) => kind === 'item_unchanged'));
    assert.ok((await ingest('/page')).some(({ kind }) => kind === 'item_unchanged'));
    versions.etag = '"2"';
    versions.text = 'the second version';
    await ingest('/page');
    assert.deepEqual(seen, [undefined, '"1"', '"1"', '"1"']);
    assert.equal((await pawl.search('site', 'second')).length, 1);
  });

  test('that could not be used is read again in full, ignoring its version', async (t) => {
    const seen: (string | undefined)[] = [];
    const page: { text: string; etag: string } = { text: 'good', etag: '"1"' };
    const { ingest } = await setup(t, {
      '/page': (request, response) => {
        seen.push(request.headers['if-none-match']);
        html(page.text, { ETag: page.etag })(request, response);
      },
    });
    await ingest('/page');
    Object.assign(page, { text: '...', etag: '"2"' });
    assert.equal(detailOf(await ingest('/page'), 'item_failed')?.code, 'no_usable_content');
    await ingest('/page');
    assert.deepEqual(seen, [undefined, '"1"', undefined]);
  });

  test('in another charset becomes UTF-8, and is stored with that charset', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/page': (_, response) =>
        response
          .writeHead(200, { 'Content-Type': 'text/html; charset=iso-8859-1' })
          .end(Buffer.from('<p>caf\xe9 cr\xe8me</p>', 'latin1')),
    });
    await ingest('/page');
    assert.equal((await pawl.search('site', 'café'))[0]?.text.includes('café crème'), true);
    const rows = await sessionOf(pawl).store.run<{ charset: string }>({
      text: 'SELECT charset FROM fetches',
    });
    assert.deepEqual(
      rows.map(({ charset }) => charset),
      ['utf-8'],
    );
  });

  test('may be compressed, and is refused if it is not text', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/page': (_, response) =>
        response
          .writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' })
          .end(gzipSync('compressed words')),
      '/program': (_, response) =>
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('\x7fELF\x02\0', 'latin1'),
    });
    await ingest('/page');
    assert.equal((await pawl.search('site', 'compressed')).length, 1);
    const failed = detailOf(await ingest('/program'), 'item_failed');
    assert.equal(failed?.code, 'unsupported_mime');
    assert.match(String(failed?.message), /x-elf/);
  });

  test('at a private address is refused', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/page': (_, response) =>
        response.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end(),
    });
    assert.equal(detailOf(await ingest('/page'), 'item_failed')?.code, 'private_address');
    const jobs = (await pawl.jobs().all()).length;
    await assert.rejects(pawl.ingest(['http://127.0.0.1:1/'], { corpus: 'site' }), {
      code: 'private_address',
    });
    assert.equal((await pawl.jobs().all()).length, jobs, 'no job was made of it');
  });

  test('is requested with its query, which no event and no error repeats', async (t) => {
    const { ingest, asked, pawl } = await setup(t, {
      '/way?token=SECRET': (_, response) =>
        response.writeHead(302, { Location: '/page?session=SECRET' }).end(),
      '/page?session=SECRET': html('text'),
      '/image?token=SECRET': (_, response) => response.end('\x89PNG\r\n\x1a\n', 'latin1'),
    });
    const events = [
      ...(await ingest('/way?token=SECRET#part')),
      ...(await ingest('/image?token=SECRET')),
      ...(await ingest('/gone?token=SECRET')),
    ];
    assert.ok(asked.includes('/page?session=SECRET'));
    assert.ok(events.some(({ detail }) => /\?session=…/.test(String(detail?.final_url))));
    assert.doesNotMatch(JSON.stringify(events), /SECRET/);
    const failed = await pawl.inbox().all();
    assert.equal(failed.length, 2);
    assert.doesNotMatch(JSON.stringify(failed.map(({ error }) => error)), /SECRET/);
  });
});

describe('a domain', () => {
  test('with an anti-bot signal is read slowly, and its other pages wait', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/page': (_, response) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end(),
    });
    const events = await ingest('/page', 'retry_scheduled');
    assert.equal(detailOf(events, 'step_failed')?.code, '403_waf');
    const paced = detailOf(events, 'domain_paced');
    assert.match(String(paced?.reason), /^403_waf: one page at a time, 10000 ms apart$/);
    assert.deepEqual(await getGateLimits(sessionOf(pawl).store, '127.0.0.1'), {
      concurrency: limits.fetch.guardedDomainConcurrencyMax,
      intervalMs: limits.fetch.guardedDomainIntervalMs,
    });
  });

  test('with an anti-bot signal is paused from its very next page on', async (t) => {
    const { ingest, pawl, asked } = await setup(t, {
      '/page': (_, response) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end(),
      '/other': html('text'),
    });
    const before = sessionOf(pawl).store.now();
    await ingest('/page', 'retry_scheduled');
    const [gate] = await sessionOf(pawl).store.run<{ next_at: number; held_until: number }>({
      text: 'SELECT next_at, held_until FROM gates',
    });
    const apart = limits.fetch.guardedDomainIntervalMs;
    assert.ok((gate?.next_at ?? 0) >= before + apart);
    assert.ok((gate?.held_until ?? 0) >= before + apart);
    // As if the other page had passed the gate before the anti-bot signal.
    await sessionOf(pawl).store.write((transaction) =>
      transaction.run({
        text: 'UPDATE gates SET next_at = 0, held_until = held_until + 3600000',
      }),
    );
    const events = await ingest('/other', 'retry_scheduled');
    const { code, spends_retry, due_at } = detailOf(events, 'retry_scheduled') ?? {};
    assert.deepEqual([code, spends_retry], ['domain_held', false]);
    assert.ok((due_at as number) >= before + 3_600_000);
    assert.equal(asked.includes('/other'), false);
  });

  test('that sends Retry-After is paused for all of its pages', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/page': (_, response) => response.writeHead(429, { 'Retry-After': '120' }).end(),
    });
    const before = sessionOf(pawl).store.now();
    const events = await ingest('/page', 'retry_scheduled');
    const { due_at, reason } = detailOf(events, 'retry_scheduled') ?? {};
    assert.ok((due_at as number) >= before + 120_000, String(reason));
    const [gate] = await sessionOf(pawl).store.run<{ next_at: number }>({
      text: 'SELECT next_at FROM gates',
    });
    assert.ok((gate?.next_at ?? 0) >= before + 120_000);
  });

  test('whose robots.txt has a crawl delay is read with that delay', async (t) => {
    const { ingest, pawl } = await setup(t, {
      '/robots.txt': (_, response) => response.end('User-agent: *\nCrawl-delay: 7'),
      '/page': html('text'),
    });
    await ingest('/page');
    assert.equal((await getGateLimits(sessionOf(pawl).store, '127.0.0.1')).intervalMs, 7000);
  });
});
