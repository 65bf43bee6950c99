/** The workers, limits and runs that the service shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { openSite } from './web-site.ts';

interface System {
  readonly workers: readonly { readonly worker: string; readonly items: number }[];
  readonly domains: readonly {
    readonly domain: string;
    readonly at_once: number;
    readonly reading: number;
    readonly waiting: number;
  }[];
  readonly providers: readonly unknown[];
  readonly caller: { readonly caller_id: string };
}

interface List {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

test('shows the workers, their documents, and the limits of a domain', async (t) => {
  const site = await openSite(t);
  site.hold('/slow');
  const bench = await openBench(t, { allowHosts: [site.host] });
  const look = async () => (await bench.ask<System>('GET /system')).body;
  const idle = await look();
  assert.equal(idle.workers.length, 1);
  assert.deepEqual([idle.workers[0]?.items, idle.domains, idle.providers], [0, [], []]);
  assert.equal(idle.caller.caller_id, 'local');
  const urls = ['1', '2', '3', '4', '5', '6'].map((name) => `${site.origin}/slow/${name}`);
  const id = await bench.submit({ corpus_name: 'a', urls });
  const busy = await until(
    async () => {
      const system = await look();
      return (system.workers[0]?.items ?? 0) > 0 ? system : undefined;
    },
    { what: 'a worker with a lease' },
  );
  const [domain] = busy.domains;
  assert.ok(domain, JSON.stringify(busy));
  assert.match(domain.domain, /127\.0\.0\.1/);
  assert.ok(domain.reading > 0 && domain.reading <= domain.at_once);
  assert.equal(domain.reading + domain.waiting, urls.length);
  site.release('/slow');
  await bench.ended(id);
  assert.deepEqual((await look()).domains, []);
});

test('shows all runs of a document, newest first, to its owner', async (t) => {
  const bench = await openBench(t);
  const ids: unknown[] = [];
  for (const text of ['The heron waits.', 'The heron flies.', 'The heron sleeps.']) {
    const job = await bench.submit({ corpus_name: 'a', documents: [{ id: 'heron', text }] });
    await bench.ended(job);
    ids.unshift(job);
  }
  const { body } = await bench.ask<List>('GET /corpora/:name/documents', { params: { name: 'a' } });
  const params = { id: String(body.items[0]?.document_id) };
  const look = (query = {}) => bench.ask<List>('GET /documents/:id/items', { params, query });
  const runs = (await look()).body;
  assert.deepEqual(
    runs.items.map(({ job_id, step }) => [job_id, step]),
    ids.map((id) => [id, 'done']),
  );
  const first = (await look({ limit: 2 })).body;
  const rest = (await look({ limit: 2, cursor: String(first.next_cursor) })).body;
  assert.deepEqual([...first.items, ...rest.items], runs.items);
  assert.equal(rest.next_cursor, null);
  const none = await bench.ask('GET /documents/:id/items', { params: { id: 'none' } });
  assert.deepEqual([none.status, none.body.code], [404, 'document_unknown']);
});

test('remembers the last hour, and knows the size of its store', async (t) => {
  const bench = await openBench(t);
  interface History {
    readonly version: string;
    readonly store: { readonly kind: string; readonly bytes: number };
    readonly readings: readonly Readonly<Record<string, number>>[];
  }
  const documents = [{ id: 'one', text: 'A heron waits at the weir.' }];
  const jobId = await bench.submit({ corpus_name: 'birds', documents });
  await bench.ended(jobId);
  await bench.ask('POST /search', { body: { corpus_name: 'birds', query: 'heron' } });
  const sumOf = ({ readings }: History, name: string): number =>
    readings.reduce((sum, reading) => sum + Number(reading[name]), 0);
  const seen = await until(
    async () => {
      const { body } = await bench.ask<History>('GET /system/history');
      return sumOf(body, 'documents') === 1 ? body : undefined;
    },
    { what: 'the document to be counted' },
  );
  assert.equal(sumOf(seen, 'searches'), 1);
  assert.ok(sumOf(seen, 'requests') >= 2);
  // A stream lasts as long as its reader, so it is not a request whose time matters.
  const streams = 40;
  for (let read = 0; read < streams; read += 1) {
    await (await fetch(`${bench.service.address}/jobs/${jobId}/stream`)).text();
  }
  const { body: after } = await bench.ask<History>('GET /system/history');
  const others = sumOf(after, 'requests') - sumOf(seen, 'requests');
  assert.ok(others < streams / 2, `${others} more requests`);
  assert.match(seen.version, /^\d+\.\d+\.\d+/);
  assert.equal(seen.store.kind, 'sqlite');
  assert.ok(seen.store.bytes > 0);
});
