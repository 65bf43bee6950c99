/** Commands and programs that use a remote service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { remotePawl } from '../../src/cli/remote-client.ts';
import { Client } from '../../src/client/http.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { sessionOf } from '../../src/library/internal.ts';
import type { Access } from '../../src/service/access.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

const plain = <Row extends object>(row: Row): Row => ({ ...row });

describe('pawl with --url', () => {
  test('ingests, searches, controls and explains over HTTP, and opens no store', async (t) => {
    const { service } = await openBench(t);
    const place = openRunner(t);
    const url = ['--url', service.address];
    place.write('docs/one/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
    place.write('docs/two/cat.md', '# The dog\n\nThe dog guards the quince tree.\n');
    place.write('docs/empty.txt', '');

    const ingested = await place.run(['ingest', 'docs', '--corpus', 'notes', ...url]);
    assert.equal(ingested.code, 2, ingested.stderr);
    assert.match(ingested.stdout, /2 documents indexed · 1 failed/);
    assert.match(ingested.stdout, /empty_source +1 +\S/);
    const found = await place.run(['search', 'notes', 'harmonium', '--mode', 'keyword', ...url]);
    assert.match(found.stdout, /The cat +\d\.\d+\n +upload:docs\/one\/cat\.md/);

    const why = await place.run(['why', 'upload:docs/two/cat.md', '--corpus', 'notes', ...url]);
    assert.match(why.stdout, /^searchable {2}upload:docs\/two\/cat\.md\nVersion 1/);
    assert.match(why.stdout, /raw bytes +\d+ B of text\/markdown, blob\s+[0-9a-f]{64}/);

    const { items } = await place.readOne<{ items: { job_id: string }[] }>(['jobs', ...url]);
    const id = items[0]?.job_id ?? '';
    const shown = await place.run(['jobs', 'show', id.slice(0, 8), ...url]);
    assert.match(shown.stdout, /2 of 3 done, 1 failed/);
    const events = await place.read(['jobs', 'events', id, ...url]);
    assert.equal(events.at(-1)?.kind, 'job_succeeded');
    assert.match((await place.run(['inbox', ...url])).stdout, /1 document failed/);
    const discarded = await place.run(['inbox', 'discard', '--all', '--yes', ...url]);
    assert.match(discarded.stdout, /discarded 1 document/);
    assert.match((await place.run(['corpora', 'documents', 'notes', ...url])).stdout, /The dog/);
    const deleted = await place.run(['corpora', 'delete', 'notes', '--yes', ...url]);
    assert.match(deleted.stdout, /deleted notes with 2 documents/);
    const gone = await place.run(['search', 'notes', 'harmonium', ...url]);
    assert.deepEqual([gone.code, /corpus_unknown/.test(gone.stderr)], [1, true]);
    assert.match((await place.run(['corpora'])).stderr, /there is no store/);
  });

  test('shows names, costs, budgets and counters like the store', async (t) => {
    const { service } = await openBench(t);
    const { pawl } = service;
    const remote = remotePawl({ url: service.address });
    const text = 'Ada Lovelace met Charles Babbage in London. Ada Lovelace wrote to him.';
    const submitted = await pawl.ingest([{ id: 'x', text }], { corpus: 'a' });
    await submitted.wait();
    const params = { name: 'a' };
    const job = await (await remote.job(submitted.id)).detail();
    const stored = await sessionOf(pawl).ask('GET /jobs/:id', { params: { id: submitted.id } });
    assert.deepEqual(job, stored);
    const corpus = await remote.ask('GET /corpora/:name', { params });
    assert.deepEqual(corpus, await sessionOf(pawl).ask('GET /corpora/:name', { params }));
    assert.ok(corpus.model);
    const asking = { params, query: { kind: 'person' } } as const;
    const names = await remote.ask('GET /corpora/:name/entities', asking);
    const own = await sessionOf(pawl).ask('GET /corpora/:name/entities', asking);
    assert.deepEqual(names.items, own.items.map(plain));
    assert.ok(names.items.length > 0);
    const list = await remote.ask('GET /corpora/:name/documents', { params });
    const [{ document_id: id = '' } = {}] = list.items;
    const { items: parts } = await remote.ask('GET /documents/:id/entities', { params: { id } });
    assert.ok((parts[0]?.places.length ?? 0) > 0);
    const entity = { params: { name: 'a', entity: names.items[0]?.name ?? '' } };
    const related = await remote.ask('GET /corpora/:name/entities/:entity', entity);
    const ownRelated = await sessionOf(pawl).ask('GET /corpora/:name/entities/:entity', entity);
    assert.deepEqual(related.items, ownRelated.items.map(plain));
    const body = { budget_cents: 5 };
    await remote.ask('POST /corpora/:name/budget', { params, body });
    assert.equal((await pawl.corpus('a')).budgetCents, 5);
    const again = remote.ask('POST /corpora/:name/reembed', { params, body: {} });
    await assert.rejects(again, { code: 'action_not_allowed' });
  });

  test('reports errors of the address and of the command', async (t) => {
    const { service } = await openBench(t, { work: false });
    await service.close();
    const place = openRunner(t);
    const nobody = await place.run(['jobs', '--url', service.address]);
    assert.deepEqual([nobody.code, /network_error/.test(nobody.stderr)], [1, true]);
    for (const args of [
      ['jobs', '--url', 'nowhere'],
      ['doctor', '--url', 'http://127.0.0.1:9'],
      ['extract', 'x.txt', '--url', 'http://127.0.0.1:9'],
      ['ingest', '-', '--corpus', 'a', '--estimate', '--url', 'http://127.0.0.1:9'],
    ]) {
      assert.equal((await place.run(args)).code, 64, args.join(' '));
    }
  });
});

describe('pawl why', () => {
  test('explains a local file', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
    await place.run(['ingest', 'docs', '--corpus', 'notes']);
    const args = ['why', 'docs/cat.md', '--corpus', 'notes', '--query', 'harmonium'];
    const { stdout, code } = await place.run(args);
    assert.equal(code, 0);
    assert.match(stdout, /^searchable .*docs\/cat\.md\nVersion 1 is searchable, with 1 passage/);
    assert.match(stdout, /passage +.*harmonium/);
    const never = await place.readOne<{ verdict: string }>([
      'why',
      'docs/dog.md',
      '--corpus',
      'notes',
    ]);
    assert.equal(never.verdict, 'unknown');
  });
});

describe('the client', () => {
  test('sends its key, and throws failures with their codes', async (t) => {
    const access: Access = {
      authenticate: async (key) => {
        if (key !== 'secret') throw new Failure('unauthorized', 'this key is not valid');
        const rest = { callerType: 'user', tier: null, scopes: [], rawClaims: {} } as const;
        return { callerId: 'ann', shownId: 'ann', ...rest, internal: false };
      },
      admit: async () => ({
        ...{ allowed: true, limit: 9, remaining: 9 },
        ...{ windowSeconds: 3600, resetAtMs: 0, retryAfterSeconds: 0 },
      }),
    };
    const { service } = await openBench(t, { access, work: false });
    const client = new Client({ url: service.address, key: 'secret' });
    const body = { corpus_name: 'a', documents: [{ text: 'A heron.' }] };
    const { job_id: id } = await client.ask('POST /jobs', { body });
    assert.equal((await client.ask('GET /jobs/:id', { params: { id } })).state, 'queued');
    const isUnknown = { code: 'job_unknown' };
    await assert.rejects(client.ask('GET /jobs/:id', { params: { id: 'x' } }), isUnknown);
    const stranger = new Client({ url: service.address, key: 'wrong' });
    await assert.rejects(stranger.ask('GET /jobs'), { code: 'unauthorized' });
  });

  test('follows a job to its end over broken connections', async (t) => {
    const { service, submit } = await openBench(t);
    let opened = 0;
    /** Closes every stream after some events, in the middle of one. */
    const breaking: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!String(input).endsWith('/stream') || !response.body) return response;
      opened += 1;
      let left = 16_384;
      const dead = new Error('the line went dead');
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          if (left <= 0) return controller.error(dead);
          controller.enqueue(piece.subarray(0, left));
          left -= piece.length;
        },
        flush(controller) {
          if (left < 0) controller.error(dead);
        },
      });
      const { status, headers } = response;
      return new Response(response.body.pipeThrough(cut), { status, headers });
    };
    const documents = Array.from({ length: 20 }, (_, index) => ({ text: `Heron ${index}.` }));
    const id = await submit({ corpus_name: 'a', documents });
    const client = new Client({ url: service.address, fetch: breaking });
    const seen: number[] = [];
    for await (const { seq } of client.follow({ jobId: id })) seen.push(seq);
    const { items } = await client.ask('GET /jobs/:id/events', { params: { id } });
    assert.deepEqual(
      seen,
      items.map(({ seq }) => seq),
    );
    assert.ok(opened > 1);
  });
});
