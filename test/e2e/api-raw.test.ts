/** The original of a document: its bytes, ranges of them, and headers that keep a browser safe. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hashed } from '../support/access-fixture.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Bench, openBench } from './api-client.ts';

interface Listed {
  readonly items: readonly { readonly document_id: string; readonly source_url: string }[];
}

/** Longer than what a row of the store holds, so it is in a blob. */
const long = Buffer.from(`# Herons\n\n${'The grey heron stands in the reeds. '.repeat(60_000)}`);
const page = '<!doctype html><title>Reeds</title><main><p>A heron <script>stands()</script></main>';
const files: readonly (readonly [name: string, body: Buffer<ArrayBuffer>])[] = [
  ['long.txt', long],
  ["it's (a) page.html", Buffer.from(page)],
];

async function openFiles(bench: Bench): Promise<(name: string) => string> {
  const form = new FormData();
  form.set('corpus_name', 'files');
  for (const [name, body] of files) form.append('file', new Blob([body]), name);
  const { address } = bench.service;
  const response = await fetch(`${address}/jobs/upload`, { method: 'POST', body: form });
  const { job_id } = (await response.json()) as { job_id: string };
  assert.equal((await bench.ended(job_id)).status, 'done');
  const params = { name: 'files' };
  const { body } = await bench.ask<Listed>('GET /corpora/:name/documents', { params });
  return (name) => {
    const found = body.items.find(({ source_url }) => source_url.endsWith(name));
    assert.ok(found, name);
    return `${address}/documents/${found.document_id}/raw`;
  };
}

const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

describe('the original of a document', () => {
  test('is returned byte for byte, whole and in ranges', async (t) => {
    const address = (await openFiles(await openBench(t)))('long.txt');
    const whole = await fetch(address);
    assert.equal(whole.status, 200);
    assert.ok((await bytesOf(whole)).equals(long));
    const { headers } = whole;
    assert.equal(headers.get('content-length'), String(long.length));
    assert.equal(headers.get('accept-ranges'), 'bytes');
    const etag = headers.get('etag') ?? '';
    const ask = (range: string, more = {}) => fetch(address, { headers: { range, ...more } });
    const size = long.length;
    const ranges: readonly (readonly [range: string, from: number, to: number])[] = [
      ['bytes=0-9', 0, 10],
      ['bytes=5-1500000', 5, 1_500_001],
      [`bytes=${size - 3}-`, size - 3, size],
      ['bytes=-4', size - 4, size],
    ];
    for (const [range, from, to] of ranges) {
      const part = await ask(range);
      assert.equal(part.status, 206, range);
      assert.equal(part.headers.get('content-range'), `bytes ${from}-${to - 1}/${size}`);
      assert.equal(part.headers.get('content-length'), String(to - from));
      assert.ok((await bytesOf(part)).equals(long.subarray(from, to)), range);
    }
    const outside = await ask(`bytes=${size}-`);
    assert.equal(outside.status, 416);
    assert.equal(outside.headers.get('content-range'), `bytes */${size}`);
    assert.equal(((await outside.json()) as { code: string }).code, 'range_not_satisfiable');
    const same = await ask('bytes=0-9', { 'if-range': etag });
    assert.equal(same.status, 206);
    await same.body?.cancel();
    const other = await ask('bytes=0-9', { 'if-range': '"another"' });
    assert.equal(other.status, 200);
    assert.ok((await bytesOf(other)).equals(long));
    const known = await fetch(address, { headers: { 'if-none-match': etag } });
    assert.deepEqual([known.status, await known.text()], [304, '']);
  });

  test('has the same headers for HEAD, without content', async (t) => {
    const address = (await openFiles(await openBench(t)))('long.txt');
    const [whole, head] = [await fetch(address), await fetch(address, { method: 'HEAD' })];
    assert.ok((await bytesOf(whole)).equals(long));
    assert.deepEqual([head.status, await head.text()], [200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'content-disposition']) {
      assert.equal(head.headers.get(name), whole.headers.get(name), name);
    }
    const part = await fetch(address, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
    assert.deepEqual([part.status, part.headers.get('content-length')], [206, '10']);
    const other = await fetch(address, { method: 'PUT' });
    assert.deepEqual([other.status, other.headers.get('allow')], [405, 'GET, HEAD']);
    const none = await fetch(`${address}/none`, { method: 'HEAD' });
    assert.equal(none.status, 404);
  });

  test('is never run by a browser: a page is an attachment in a sandbox', async (t) => {
    const addressOf = await openFiles(await openBench(t));
    const html = await fetch(addressOf('page.html'));
    assert.equal(await html.text(), page);
    assert.match(html.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal(html.headers.get('x-content-type-options'), 'nosniff');
    assert.match(html.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/);
    const name = "attachment; filename*=UTF-8''it%27s%20%28a%29%20page.html";
    assert.equal(html.headers.get('content-disposition'), name);
    const text = await fetch(addressOf('long.txt'), { method: 'HEAD' });
    assert.equal(text.headers.get('content-disposition'), "inline; filename*=UTF-8''long.txt");
    assert.match(text.headers.get('content-security-policy') ?? '', /^sandbox/);
  });

  test('of a text in the request is that text', async (t) => {
    const bench = await openBench(t);
    const documents = [{ id: 'weir', markdown: '# The weir\n\nA heron.' }];
    const job = await bench.submit({ corpus_name: 'notes', documents });
    await bench.ended(job);
    const params = { name: 'notes' };
    const { body } = await bench.ask<Listed>('GET /corpora/:name/documents', { params });
    const response = await fetch(
      `${bench.service.address}/documents/${body.items[0]?.document_id}/raw`,
    );
    assert.equal(response.headers.get('content-type'), 'text/markdown; charset=utf-8');
    assert.equal(await response.text(), '# The weir\n\nA heron.');
  });

  test('that is no longer stored is reported', async (t) => {
    const data = temporaryDirectory(t);
    const address = (await openFiles(await openBench(t, { data })))('long.txt');
    rmSync(join(data, 'blobs'), { recursive: true });
    const gone = await fetch(address);
    const { code } = (await gone.json()) as { code: string };
    assert.deepEqual([gone.status, code], [422, 'source_missing']);
  });

  test('belongs to the caller of its corpus', async (t) => {
    const [ann, eve] = ['ann-key-of-some-length', 'eve-key-of-some-length'];
    const bench = await openBench(t, { keys: { apiKeys: [hashed(ann), hashed(eve)] } });
    const asAnn = { headers: { 'x-api-key': ann } };
    const documents = [{ id: 'weir', text: 'A heron.' }];
    const body = { corpus_name: 'notes', documents };
    const { body: job } = await bench.ask('POST /jobs', { body, ...asAnn });
    const { address } = bench.service;
    await (await fetch(`${address}/jobs/${job.job_id}/stream`, asAnn)).text();
    const listed = await bench.ask<Listed>('GET /corpora/:name/documents', {
      params: { name: 'notes' },
      ...asAnn,
    });
    const raw = `${address}/documents/${listed.body.items[0]?.document_id}/raw`;
    assert.equal((await fetch(raw, asAnn)).status, 200);
    assert.equal((await fetch(raw, { headers: { 'x-api-key': eve } })).status, 404);
    assert.equal((await fetch(raw)).status, 401);
    assert.equal((await fetch(raw, { method: 'HEAD' })).status, 401);
  });
});
