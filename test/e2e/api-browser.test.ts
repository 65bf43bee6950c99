/** The typed client in a page of another origin, in a real browser. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { Client } from '../../src/client/http.ts';
import type { Cleanup } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { slowDown } from './slow-pages.ts';
import { launchBrowser } from './web-browser.ts';

const key = 'a-key-that-is-long-enough';
const keys = { apiKeys: [`sha256:${createHash('sha256').update(key).digest('hex')}`] };
const entry = fileURLToPath(new URL('../../src/client/http.ts', import.meta.url));

async function bundleClient(): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, lib: { entry, formats: ['es'] } },
  });
  const [built] = [output].flat();
  assert.ok(built && 'output' in built);
  const [chunk] = built.output;
  return chunk.code;
}

/** A site with one empty page and the client. */
async function openSite(t: Cleanup, code: string): Promise<string> {
  const site = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? code : '<!doctype html><title>A page</title>');
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.after(() => void site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

interface Given {
  readonly url: string;
  readonly key: string;
}

/** Runs in the page: submits, follows the stream, searches, and reads a failure. */
async function useClient({ url, key: ownKey }: Given) {
  const path = '/client.js';
  const module: { Client: new (options: Given) => Client } = await import(path);
  const client = new module.Client({ url, key: ownKey });
  const documents = [{ id: 'note', text: 'The heron waits by the weir.' }];
  const { job_id } = await client.ask('POST /jobs', { body: { corpus_name: 'a', documents } });
  const kinds: string[] = [];
  for await (const event of client.follow({ jobId: job_id })) kinds.push(event.kind);
  const body = { corpus_name: 'a', query: 'heron' };
  const { results } = await client.ask('POST /search', { body });
  const code = await client.ask('GET /corpora/:name', { params: { name: 'none' } }).then(
    () => 'none',
    (error: { code: string }) => error.code,
  );
  return { kinds, text: results[0]?.text, code };
}

describe('the client in a page of another origin', () => {
  test('submits, follows and searches if the origin is configured, and else cannot', async (t) => {
    const code = await bundleClient();
    const [allowed, other] = [await openSite(t, code), await openSite(t, code)];
    const { service } = await openBench(t, { keys, corsOrigins: [allowed] });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await slowDown(page);
    const given = { url: `${service.address}/v1`, key };
    await page.goto(allowed);
    const used = await page.evaluate(useClient, given);
    assert.equal(used.kinds[0], 'job_accepted');
    assert.equal(used.kinds.at(-1), 'job_succeeded');
    assert.match(used.text ?? '', /heron/);
    assert.equal(used.code, 'corpus_unknown');
    await page.goto(other);
    await assert.rejects(page.evaluate(useClient, given), /no response from/);
  });
});
