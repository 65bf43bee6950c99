/** Jobs of any size: what needs attention comes first, and every document has its timeline. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startService } from '../../src/app/role/service.ts';
import type { Item, JobDetail } from '../../src/contract/schema/schema.ts';
import { item as lifecycle } from '../../src/kernel/lifecycle/item.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { untilEqual } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';
import { findProblems, launchBrowser, openView, settled } from './web-browser.ts';

const documents = 30_000;
/** Spread, and far from the first page. */
const failed = [14_999, 29_997, 30_000];
const startedAt = Date.UTC(2026, 2, 2, 9);
const done = lifecycle.steps.reduce((all, { step }) => lifecycle.reach(all, step), 0);
const eventsEach = 2 * lifecycle.steps.length;

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

const failure = JSON.stringify({
  stage: 'scraping',
  step: 'fetched',
  code: 'http_404',
  error_code: 'http_404',
  kind: 'permanent',
  message: 'the site answered 404',
  context: {},
  at: new Date(startedAt).toISOString(),
});

/** Rows are inserted directly, because the test measures only how they are shown. */
async function fillStore(data: string): Promise<void> {
  const log = { level: 'error', write: () => undefined } as const;
  const service = await startService({ data, host: '127.0.0.1', port: 0, log, work: false });
  await service.close();
  const database = new DatabaseSync(join(data, 'pawl.db'));
  database.exec('BEGIN');
  database
    .prepare(
      `INSERT INTO jobs (id, key, caller, corpus, type, url, force, priority, state, items_total,
        items_done, items_failed, created_at, updated_at, started_at, ended_at)
       VALUES (1, 'big', 'local', 'k8s', 'ingest', NULL, 0, 0, 'succeeded', ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      documents,
      documents - failed.length,
      failed.length,
      ...[startedAt, startedAt, startedAt, startedAt],
    );
  const insertItem = database.prepare(
    `INSERT INTO items (id, job_id, caller, corpus, document_id, source_kind, source, force, step,
      progress, rank, error, failed_at, created_at, moved_at)
     VALUES (?, 1, 'local', 'k8s', ?, 'upload', ?, 0, ?, ?, 0, ?, ?, ?, ?)`,
  );
  const insertEvent = database.prepare(
    `INSERT INTO events (seq, at, kind, job_id, item_id, step, attempt, worker, detail)
     VALUES (?, ?, ?, 1, ?, ?, 1, 'w', NULL)`,
  );
  let seq = 0;
  for (let id = 1; id <= documents; id += 1) {
    const isFailed = failed.includes(id);
    const [step, progress] = isFailed ? ['failed', 0] : ['done', done];
    const at = startedAt + id;
    const cause = isFailed ? [failure, at] : [null, null];
    insertItem.run(id, `document-${id}`, `upload:page-${id}.md`, step, progress, ...cause, at, at);
    for (const row of lifecycle.steps) {
      insertEvent.run(++seq, at, 'step_started', id, row.step);
      insertEvent.run(++seq, at, 'step_completed', id, row.step);
    }
  }
  database.exec(`UPDATE sequence SET value = ${seq} WHERE name = 'events'`);
  database.exec('COMMIT');
  database.close();
}

/** The paths that the page asks for from now on. */
function listen(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (/^\/(items|jobs)\//.test(pathname)) asked.push(pathname + search);
  });
  return asked;
}

async function sourcesIn(bench: Bench, state: string): Promise<string[]> {
  const sources: string[] = [];
  let cursor: string | null = null;
  do {
    const query: Record<string, string | number> = { state, limit: 2, ...(cursor && { cursor }) };
    const { body }: { body: { items: Item[]; next_cursor: string | null } } = await bench.ask(
      'GET /jobs/:id/items',
      { params: { id: 'big' }, query },
    );
    sources.push(...body.items.map(({ source }) => source));
    cursor = body.next_cursor;
  } while (cursor !== null);
  return sources;
}

describe('a job of 30,000 documents', () => {
  test('shows the newest events, failures first, and the timeline of any document', async (t) => {
    const data = temporaryDirectory(t);
    await fillStore(data);
    const bench = await openBench(t, { data, work: false });
    assert.deepEqual(
      await sourcesIn(bench, 'failed'),
      failed.map((id) => `upload:page-${id}.md`),
    );
    const { page, visit, complaints } = await openView(t, {
      browser,
      address: bench.service.address,
    });

    await visit('/jobs/big');
    await page.getByText('Done with 3 failures').waitFor();
    const rows = page.getByRole('region', { name: 'Documents of this job' }).locator('.item-row');
    const names = rows.locator('.cut:first-child');
    const failedNames = failed.map((id) => `page-${id}.md`);
    await untilEqual(
      async () => (await names.allInnerTexts()).slice(0, 4),
      [...failedNames, 'page-1.md'],
    );
    assert.deepEqual(await findProblems(page), []);

    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.waitForURL(/at=failed/);
    await untilEqual(() => names.allInnerTexts(), failedNames);

    await visit('/jobs/big?tab=events');
    const newest = String(documents * eventsEach);
    await untilEqual(() => page.locator('[data-seq]').first().getAttribute('data-seq'), newest);

    for (const id of [documents - 1, 15_000, 1]) {
      await visit('/jobs');
      await settled(page);
      const asked = listen(page);
      await visit(`/jobs/big?item=${id}`);
      const drawer = page.getByRole('region', { name: 'Selected document' });
      await drawer.getByText(`page-${id}.md`).waitFor();
      await drawer.getByRole('region', { name: 'Timeline' }).getByText('embedded').waitFor();
      const events = asked.filter((path) => path.includes('/events'));
      assert.deepEqual(
        [...new Set(events.map((path) => path.split('?')[0]))],
        [`/items/${id}/events`],
      );
    }
    assert.deepEqual(complaints, []);
  });
});

describe('the history of a document', () => {
  test('is read by its owner, by cursor, and a job backwards', async (t) => {
    const bench = await openBench(t);
    const text = 'A heron waits at the weir. '.repeat(20);
    const id = await bench.submit({ corpus_name: 'birds', documents: [{ id: 'one', text }] });
    await bench.ended(id);
    const { body: job } = await bench.ask<JobDetail>('GET /jobs/:id', { params: { id } });
    assert.equal(job.counters.urls_processed, 1);
    const { body: list } = await bench.ask<{ items: Item[] }>('GET /jobs/:id/items', {
      params: { id },
    });
    const item = String(list.items[0]?.item_id);
    interface Page {
      items: { seq: number; kind: string }[];
      last_seq: number;
      has_more: boolean;
    }
    const read = async (query: Record<string, number>): Promise<Page> =>
      (await bench.ask<Page>('GET /items/:id/events', { params: { id: item }, query })).body;
    const all = await read({});
    assert.ok(all.items.some(({ kind }) => kind === 'step_completed'));
    const two = await read({ limit: 2 });
    assert.equal(two.has_more, true);
    const rest = await read({ after: two.last_seq });
    assert.deepEqual([...two.items, ...rest.items], all.items);
    const before = Number.MAX_SAFE_INTEGER;
    const asked = { params: { id }, query: { before, limit: 3 } };
    const newest = (await bench.ask<Page>('GET /jobs/:id/events', asked)).body;
    const numbers = newest.items.map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => b - a),
    );
    assert.equal(newest.items[0]?.kind, 'job_succeeded');
    const both = { params: { id }, query: { before, after: 1 } };
    assert.equal((await bench.ask('GET /jobs/:id/events', both)).status, 400);
    const unknown = await bench.ask('GET /items/:id/events', { params: { id: '999999' } });
    assert.equal(unknown.status, 404);
  });

  test('of a canceled job counts what was done, not what was canceled', async (t) => {
    const bench = await openBench(t, { work: false });
    const many = Array.from({ length: 5 }, (_, place) => ({ id: `n${place}`, text: 'A heron.' }));
    const id = await bench.submit({ corpus_name: 'birds', documents: many });
    await bench.ask('POST /jobs/:id/cancel', { params: { id } });
    const { body } = await bench.ask<JobDetail>('GET /jobs/:id', { params: { id } });
    assert.deepEqual([body.items_canceled, body.counters.urls_processed], [5, 0]);
  });
});
