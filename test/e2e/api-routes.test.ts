/** The other routes: uploads, the inbox, corpora, why. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { contract, type Route, type RouteName } from '../../src/contract/contract.ts';
import { manual } from '../../src/contract/manual/manual.ts';
import type {
  Cause,
  Chunk,
  Document,
  Item,
  Section,
  Why,
} from '../../src/contract/schema/schema.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { sessionOf } from '../../src/library/internal.ts';
import type { Access } from '../../src/service/access.ts';
import { insertSyncSource } from '../../src/store/sync/sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Bench, openBench } from './api-client.ts';

interface List<Row> {
  readonly items: readonly Row[];
  readonly next_cursor: string | null;
}

function upload({ service }: Bench, form: FormData, headers: Record<string, string> = {}) {
  return fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form, headers });
}

function formOf(
  files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>,
  corpus = 'files',
): FormData {
  const form = new FormData();
  form.set('corpus_name', corpus);
  for (const [name, body] of Object.entries(files)) {
    form.append('file', new Blob([body]), name);
  }
  return form;
}

/** A source of a caller with a key, which only somebody at the machine can make. */
async function followFolder({ service }: Bench, caller: string): Promise<void> {
  const place = { caller, corpus: 'a', place_caller: caller, place_corpus: 'a' };
  const times = { schedule: null, every_ms: null, next_at: null, now: 1 };
  const source = { name: 'docs', kind: 'folder', location: '/nowhere', options: '{}' };
  await sessionOf(service.pawl).store.write(async (transaction) => {
    assert.ok(await insertSyncSource(transaction, { ...place, ...times, ...source }));
  });
}

describe('POST /jobs/upload', () => {
  test('accepts files, whose names never become paths', async (t) => {
    const data = temporaryDirectory(t);
    const bench = await openBench(t, { data });
    const form = formOf({ 'cat.md': '# The cat\n\nIt sleeps.', '../../x\u202e.txt': 'A heron.' });
    const response = await upload(bench, form);
    const body = (await response.json()) as Record<string, string>;
    assert.deepEqual([response.status, body.status, body.url_count], [202, 'pending', 2]);
    const job = await bench.ended(String(body.job_id));
    assert.equal(job.status, 'done', JSON.stringify(job));
    const { body: documents } = await bench.ask<List<Document>>('GET /corpora/:name/documents', {
      params: { name: 'files' },
    });
    assert.deepEqual(documents.items.map(({ source_url }) => source_url).sort(), [
      'upload:cat.md',
      'upload:x.txt',
    ]);
    const why = await bench.ask<Why>('GET /why', {
      query: { corpus_name: 'files', url: 'upload:x.txt' },
    });
    const hash = createHash('sha256').update('A heron.').digest('hex');
    assert.equal(why.body.provenance?.blob_key, hash);
    assert.ok(existsSync(join(data, 'blobs', hash.slice(0, 2), hash)));
  });

  test('an upload that is too large is refused with 413 and leaves nothing', async (t) => {
    const data = temporaryDirectory(t);
    const bench = await openBench(t, { data, work: false });
    const large = new Uint8Array(limits.document.sourceBytesMax + 1);
    const response = await upload(bench, formOf({ 'large.txt': large }));
    const { code } = (await response.json()) as { code: string };
    assert.deepEqual([response.status, code], [413, 'source_too_large']);
    const left = globSync('**/*', { cwd: join(data, 'blobs'), withFileTypes: true });
    assert.deepEqual(
      left.filter((entry) => entry.isFile()),
      [],
    );
    assert.deepEqual((await bench.ask('GET /jobs')).body.items, []);
  });

  const refused: readonly [string, () => FormData, string][] = [
    ['nothing at all', () => new FormData(), 'sources_empty'],
    ['no file', () => formOf({}), 'sources_empty'],
    ['a bad corpus name', () => formOf({ 'a.txt': 'a' }, '..'), 'corpus_name_invalid'],
    ['a file without a name', () => formOf({ '../..': 'a' }), 'bad_request'],
  ];
  test('refuses with a code', async (t) => {
    const bench = await openBench(t, { work: false });
    for (const [title, form, code] of refused) {
      const response = await upload(bench, form());
      assert.equal(((await response.json()) as { code: string }).code, code, title);
      assert.equal(response.status, 400, title);
    }
  });

  test('the same key and files return the original job', async (t) => {
    const bench = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'k' };
    const ids = [];
    for (const files of [{ 'a.txt': 'One.' }, { 'a.txt': 'One.' }, { 'a.txt': 'Two.' }]) {
      const response = await upload(bench, formOf(files), headers);
      const body = (await response.json()) as Record<string, string>;
      ids.push(body.job_id ?? body.code);
    }
    assert.equal(ids[0], ids[1]);
    assert.equal(ids[2], 'idempotency_conflict');
  });
});

describe('the inbox', () => {
  test('is grouped by cause with advice, and is emptied by item, cause or all', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const documents = [
      { id: 'a', text: '' },
      { id: 'b', text: '' },
      { id: 'c', text: '…' },
    ];
    await ended(await submit({ corpus_name: 'a', documents }));
    const { body } = await ask<List<Item> & { causes: Cause[] }>('GET /inbox');
    assert.deepEqual(
      body.causes.map(({ cause, count, sentence }) => [cause, count, sentence]),
      [
        ['empty_source', 2, '2 documents: empty_source'],
        ['no_usable_content', 1, '1 document: no_usable_content'],
      ],
    );
    assert.ok(body.causes.every(({ advice }) => advice.length > 10));
    const [first] = body.items;
    assert.match(first?.explanation ?? '', /^Failed while it was fetched \(empty_source\)/);
    assert.deepEqual(first?.actions, ['retry', 'discard']);
    const only = await ask<List<Item>>('GET /inbox', { query: { cause: 'no_usable_content' } });
    assert.equal(only.body.items.length, 1);
    const none = await ask<List<Item>>('GET /inbox', { query: { corpus_name: 'b' } });
    assert.equal(none.body.items.length, 0);

    const discarded = await ask('POST /inbox/discard', { body: { item_ids: [first?.item_id] } });
    assert.deepEqual(discarded.body, { discarded: 1 });
    const retried = await ask('POST /inbox/retry', { body: { cause: 'no_usable_content' } });
    assert.deepEqual(retried.body, { retried: 1 });
    const bad = await ask('POST /inbox/retry', { body: { all: true, cause: 'x' } });
    assert.deepEqual([bad.status, bad.body.code], [400, 'bad_request']);
    const foreign = await ask('POST /inbox/retry', { body: { item_ids: [99] } });
    assert.deepEqual([foreign.status, foreign.body.code], [404, 'item_unknown']);
  });
});

describe('a search', () => {
  test('applies every filter, and refuses an invalid one', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const documents = ['https://birds.example/heron', 'https://fish.example:8443/eel'].map(
      (source_url) => ({ source_url, markdown: '# Weir\n\nThe heron waits for the eel there.' }),
    );
    await ended(await submit({ corpus_name: 'birds', documents }));
    const found = async (filter: Record<string, string | undefined>) => {
      const body = { corpus_name: 'birds', query: 'heron', filter };
      return ask<{ results: { source_url: string }[] }>('POST /search', { body });
    };
    const hosts = async (filter: Record<string, string | undefined>) =>
      (await found(filter)).body.results.map(({ source_url }) => new URL(source_url).host);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    assert.deepEqual(await hosts({ host: 'birds.example' }), ['birds.example']);
    assert.deepEqual(await hosts({ host: 'FISH.example:8443' }), ['fish.example:8443']);
    const both = { updated_from: '2020-01-01', updated_before: tomorrow };
    assert.deepEqual(await hosts({ ...both, host: 'birds.example' }), ['birds.example']);
    for (const none of [{ updated_from: tomorrow }, { language: 'xx' }, { host: 'example' }]) {
      assert.deepEqual(await hosts(none), [], JSON.stringify(none));
    }
    for (const wrong of [{ updated_from: 'soon' }, { hosts: 'birds.example' }, { host: '' }]) {
      assert.equal((await found(wrong)).status, 400, JSON.stringify(wrong));
    }
  });
});

describe('corpora and documents', () => {
  test('are listed by name, with the requested page size', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const names = ['ants', 'bees', 'cats', 'dogs', 'eels'];
    const documents = [{ id: 'd', text: 'A heron waits beside the weir.' }];
    for (const corpus_name of names.toReversed())
      await ended(await submit({ corpus_name, documents }));
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: Record<string, string | number> = { limit: 2, ...(cursor && { cursor }) };
      const page = await ask<List<{ name: string }>>('GET /corpora', { query });
      pages.push(page.body.items.map(({ name }) => name));
      cursor = page.body.next_cursor;
    }
    assert.deepEqual(pages, [['ants', 'bees'], ['cats', 'dogs'], ['eels']]);
    const refused: Record<string, string | number>[] = [
      { limit: 0 },
      { limit: 201 },
      { cursor: '*' },
    ];
    for (const query of refused) {
      assert.equal((await ask('GET /corpora', { query })).status, 400, JSON.stringify(query));
    }
  });

  test('are listed page by page, shown, and deleted', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const documents = Array.from({ length: 5 }, (_, index) => ({
      id: `d${index}`,
      markdown: `# Bird ${index}\n\nAda Lovelace saw a heron.`,
    }));
    await ended(await submit({ corpus_name: 'birds', documents }));
    const params = { name: 'birds' };
    const ids = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: Record<string, string | number> = { limit: 2, ...(cursor && { cursor }) };
      const page = await ask<List<Document>>('GET /corpora/:name/documents', { params, query });
      for (const { document_id } of page.body.items) ids.add(document_id);
      cursor = page.body.next_cursor;
    }
    assert.equal(ids.size, 5);
    const [id = ''] = ids;
    const chunks = await ask<List<Chunk>>('GET /documents/:id/chunks', { params: { id } });
    assert.match(chunks.body.items[0]?.text ?? '', /heron/);
    const outline = await ask<List<Section>>('GET /documents/:id/outline', { params: { id } });
    const [first] = chunks.body.items;
    const { heading, chunk_id, page } = first ?? {};
    assert.deepEqual(outline.body.items, [{ heading, chunk_id, page, ordinal: 0, chunks: 1 }]);
    const entities = await ask<List<{ name: string }>>('GET /documents/:id/entities', {
      params: { id },
    });
    assert.ok(entities.body.items.some(({ name }) => name === 'Ada Lovelace'));
    assert.equal((await ask('DELETE /documents/:id', { params: { id } })).body.deleted, true);
    assert.equal((await ask('GET /documents/:id', { params: { id } })).status, 404);
    const deleted = await ask('DELETE /corpora/:name', { params });
    assert.deepEqual(deleted.body, { name: 'birds', deleted: 4 });
    assert.equal(
      (await ask('POST /search', { body: { corpus_name: 'birds', query: 'x' } })).status,
      404,
    );
  });
});

describe('GET /why', () => {
  test('names the state that keeps a document out, or its passage', async (t) => {
    const { submit, ended, ask, service } = await openBench(t);
    const why = async (id: string, query?: string): Promise<Why> => {
      const asked = { corpus_name: 'a', url: `inline:${id}`, ...(query && { query }) };
      return (await ask<Why>('GET /why', { query: asked })).body;
    };
    const long = { id: 'good', markdown: '# One\n\nA heron.\n\n# Two\n\nThe harmonium plays.' };
    await ended(await submit({ corpus_name: 'a', documents: [long, { id: 'bad', text: '' }] }));
    const good = await why('good', 'harmonium');
    assert.equal(good.verdict, 'searchable');
    assert.match(good.explanation, /^Version 1 is searchable/);
    assert.match(good.chunk?.text ?? '', /harmonium/);
    assert.equal(good.provenance?.content_hash, good.document?.content_hash);
    const bad = await why('bad');
    assert.deepEqual([bad.verdict, bad.document, bad.chunk], ['failed', null, null]);
    assert.match(bad.explanation, /^Not searchable: Failed while it was fetched \(empty_source\)/);
    assert.equal((await why('never')).verdict, 'unknown');
    await service.pawl.deleteDocument(good.document?.document_id ?? '');
    assert.equal((await why('good')).verdict, 'deleted');
  });
});

const someone = { caller: 'bob', hash: '0123456789abcdef' };

/** Whether the address names something that belongs to a caller. */
function needsOwner(name: RouteName): boolean {
  const { isOpen }: Route = contract[name];
  return name.includes(':') && !isOpen;
}

describe('callers', () => {
  /** Two keys are two callers; without a key, requests are refused. */
  const access: Access = {
    authenticate: async (key) => {
      if (key === undefined) throw new Failure('unauthorized', 'a key is missing');
      const rest = { callerType: 'user', tier: null, scopes: [], rawClaims: {} } as const;
      return { callerId: key, shownId: key, ...rest, internal: false };
    },
    admit: async ({ callerId }) => ({
      allowed: callerId !== 'greedy',
      limit: 10,
      remaining: callerId === 'greedy' ? 0 : 7,
      windowSeconds: 10,
      resetAtMs: 5000,
      retryAfterSeconds: 3,
    }),
  };

  test('see nothing of each other, on any route', async (t) => {
    const batchProviders = { openai: { url: 'http://127.0.0.1:9', key: 'key' } };
    const bench = await openBench(t, { access, batchProviders });
    const [ann, bob] = [{ 'x-api-key': 'ann' }, { 'x-api-key': 'bob' }];
    const requests = [{ custom_id: 'one', input: 'Who?' }];
    const asked = { task_type: 'completion', models: ['gpt-4o-mini'], requests };
    const { body: task } = await bench.ask('POST /batch/tasks', { body: asked, headers: ann });
    const body = {
      corpus_name: 'a',
      documents: [
        { id: 'x', text: '' },
        { id: 'y', text: 'A heron.' },
      ],
    };
    const headers = { ...ann, 'idempotency-key': 'same' };
    const { body: job } = await bench.ask('POST /jobs', { body, headers });
    const id = String(job.job_id);
    await (await fetch(`${bench.service.address}/jobs/${id}/stream`, { headers: ann })).text();
    const inbox = await bench.ask<List<Item>>('GET /inbox', { headers: ann });
    const item = inbox.body.items[0] as Item;
    const documents = await bench.ask<List<Document>>('GET /corpora/:name/documents', {
      params: { name: 'a' },
      headers: ann,
    });
    const document = documents.body.items[0]?.document_id ?? '';
    const foreign: Readonly<Record<string, string>> = {
      jobs: id,
      items: String(item.item_id),
      documents: document,
      corpora: 'a',
      batch: String(task.task_id),
      enqueue: id,
      callers: 'ann',
      sources: 'docs',
    };
    await followFolder(bench, 'ann');
    const named = (Object.keys(contract) as RouteName[]).filter(needsOwner);
    assert.ok(named.length >= 14);
    for (const name of named) {
      const value = foreign[name.split('/')[1] ?? ''] ?? '';
      const params = { id: value, name: value, entity: 'Ann', run: '1', ...someone };
      const { isInternal }: Route = contract[name];
      const body = manual[name]?.body;
      const { status } = await bench.ask(name, { params, headers: bob, body });
      assert.equal(status, isInternal ? 403 : 404, name);
    }
    const lists = ['GET /jobs', 'GET /inbox', 'GET /corpora', 'GET /events'] as const;
    for (const name of [...lists, 'GET /batch/tasks'] as const) {
      const { body: list } = await bench.ask<List<unknown>>(name, { headers: bob });
      assert.deepEqual(list.items, [], name);
    }
    const search = { body: { corpus_name: 'a', query: 'heron' }, headers: bob };
    assert.equal((await bench.ask('POST /search', search)).status, 404);
    const folder = { body: { corpus_name: 'b', location: '/etc' }, headers: bob };
    assert.equal((await bench.ask('POST /sources', folder)).status, 403);
    const retry = { body: { item_ids: [item.item_id] }, headers: bob };
    assert.equal((await bench.ask('POST /inbox/retry', retry)).status, 404);
    const other = await bench.ask('POST /jobs', { body, headers: { ...headers, ...bob } });
    assert.notEqual(other.body.job_id, id);
  });

  test('without a key are answered with 401, and beyond their limit with 429', async (t) => {
    const bench = await openBench(t, { access, work: false });
    for (const [name, route] of Object.entries(contract) as [RouteName, Route][]) {
      const { status } = await bench.ask(name, {
        params: { id: 'x', name: 'x', run: '1', ...someone },
      });
      assert.equal(status === 401, !route.isOpen, `${name}: ${status}`);
    }
    const fine = await bench.ask('GET /jobs', { headers: { 'x-api-key': 'ann' } });
    assert.equal(fine.headers.get('x-ratelimit-remaining'), '7');
    const greedy = await bench.ask('GET /jobs', { headers: { 'x-api-key': 'greedy' } });
    assert.deepEqual([greedy.status, greedy.body.code], [429, 'rate_limit_hit']);
    assert.equal(greedy.headers.get('retry-after'), '3');
    assert.equal(greedy.body.detail, 'more than 10 requests within 10 seconds');
    const query = await bench.ask('GET /jobs', { query: { api_key: 'ann' } });
    assert.equal(query.status, 401);
  });
});
