/** What every call of the library has: camelCase objects, signals, disposal, refusals. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Failure, type OpenOptions, open, openPreview, type Pawl } from '../../src/index.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const cat = { id: 'cat', title: 'The cat', text: 'Ada Lovelace met Charles Babbage in London.' };
const empty = { id: 'void', text: '' };
const corpus = 'pets';

async function setup(t: Cleanup, options: OpenOptions = {}) {
  const data = temporaryDirectory(t);
  const pawl = await open({ data, ...options });
  t.after(() => pawl.close());
  return { pawl, data };
}

/** A call from JavaScript, where nothing checks types. */
const untyped = (pawl: Pawl) =>
  pawl as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Snake case anywhere below, except in records, whose keys belong to users. */
function snakeKeysIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => snakeKeysIn(entry, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const isRecord = /\.(?:detail|context|steps)$/.test(`${path}.${key}`);
    const own = key.includes('_') ? [`${path}.${key}`] : [];
    return isRecord ? own : [...own, ...snakeKeysIn(each, `${path}.${key}`)];
  });
}

describe('what the library returns', () => {
  test('is camelCase, without rows and JSON strings, with the same ids everywhere', async (t) => {
    const { pawl } = await setup(t);
    const job = await pawl.ingest([cat, empty], { corpus });
    const detail = await job.wait();
    const events = await job.history().all();
    const items = await job.items().all();
    const inbox = await pawl.inbox().all();
    const [document] = await pawl.documents(corpus).all();
    const id = document?.documentId ?? '';
    const hits = await pawl.search(corpus, 'Lovelace', { explain: true });
    const results = {
      detail,
      events,
      items,
      inbox,
      document,
      hits,
      jobs: await pawl.jobs().all(),
      causes: await pawl.causes(),
      corpora: await pawl.corpora().all(),
      corpus: await pawl.corpus(corpus),
      origins: await pawl.origins(corpus),
      shares: await pawl.shares(corpus),
      sameDocument: await pawl.document(id),
      chunks: await pawl.chunks(id).all(),
      entities: await pawl.entities(corpus).all(),
      related: await pawl.related(corpus, 'Ada Lovelace').all(),
      found: await pawl.documentEntities(id).all(),
      why: await pawl.why(corpus, 'inline:cat', { query: 'Lovelace' }),
      response: await pawl.searchResponse(corpus, 'Lovelace'),
      item: await pawl.item(inbox[0]?.itemId ?? 0),
    };
    assert.deepEqual(snakeKeysIn(results), []);
    for (const [name, value] of Object.entries(results)) {
      const isEmpty = Array.isArray(value) && value.length === 0;
      assert.equal(isEmpty, name === 'shares', name);
    }
    const jobIds = new Set([detail, ...events, ...items, ...inbox].map(({ jobId }) => jobId));
    assert.deepEqual([...jobIds], [job.id]);
    assert.equal(new Date(detail.createdAt).toISOString(), detail.createdAt);
    assert.equal(events[0]?.at, new Date(events[0]?.at ?? 0).toISOString());
    assert.deepEqual([inbox[0]?.error?.code, inbox[0]?.itemId], ['empty_source', items[1]?.itemId]);
    assert.deepEqual(hits[0]?.highlights[0], { start: 4, end: 12 });
    assert.deepEqual(hits[0]?.explanation?.terms, ['lovelac']);
  });
});

describe('the events of the library', () => {
  test('of all jobs resume after a number, without gaps or duplicates', async (t) => {
    const { pawl } = await setup(t);
    const first = await pawl.ingest([cat], { corpus });
    await first.wait();
    const all = [];
    for await (const event of pawl.events({ after: 0 })) {
      all.push(event);
      if (event.kind === 'job_succeeded') break;
    }
    const middle = all[Math.floor(all.length / 2)]?.seq ?? 0;
    const rest = [];
    for await (const event of pawl.events({ after: middle })) {
      rest.push(event);
      if (event.kind === 'job_succeeded') break;
    }
    assert.deepEqual(
      rest,
      all.filter(({ seq }) => seq > middle),
    );
    assert.equal(all[0]?.jobId, first.id);
  });

  test('begin now by default, and include jobs that are submitted later', async (t) => {
    const { pawl } = await setup(t);
    await (await pawl.ingest([cat], { corpus })).wait();
    const newest = await pawl.newestEvent();
    const events = pawl.events();
    let isSeen = false;
    const next = events.next().finally(() => {
      isSeen = true;
    });
    // The stream begins while the first of these jobs is submitted.
    for (let at = 0; !isSeen; at += 1) {
      await (await pawl.ingest([{ id: `dog${at}`, text: `Dog ${at} sleeps.` }], { corpus })).wait();
    }
    const { value } = await next;
    assert.ok(value && value.seq > newest);
    await events.return();
  });

  test('throw the reason of their signal, and end quietly when Pawl is closed', async (t) => {
    const { pawl } = await setup(t, { work: false });
    const job = await pawl.ingest([cat], { corpus });
    const controller = new AbortController();
    const stopped = job.events({ signal: controller.signal });
    assert.equal((await stopped.next()).value?.kind, 'job_accepted');
    const pending = stopped.next();
    controller.abort(new Error('enough'));
    await assert.rejects(pending, { message: 'enough' });
    const open = pawl.events({ after: 0 });
    await open.next();
    const last = open.next();
    await pawl.close();
    assert.deepEqual(await last, { value: undefined, done: true });
  });
});

describe('an aborted signal', () => {
  test('rejects every call with its reason', async (t) => {
    const { pawl } = await setup(t, { work: false });
    const job = await pawl.ingest([cat], { corpus });
    const signal = AbortSignal.abort(new Error('enough'));
    const calls = [
      () => pawl.ingest([cat], { corpus, signal }),
      () => pawl.estimate([cat], { corpus, signal }),
      () => pawl.search(corpus, 'Lovelace', { signal }),
      () => pawl.why(corpus, 'inline:cat', { signal }),
      () => pawl.job(job.id, { signal }),
      () => pawl.jobs({ signal }).all(),
      () => pawl.corpora({ signal }).page(),
      () => pawl.documents(corpus, { signal }).all(),
      () => pawl.inbox().page({ signal }),
      () => pawl.batchTasks({ signal }).all(),
      () => pawl.events({ signal }).next(),
      () => job.events({ signal }).next(),
      () => job.wait({ signal }),
      () => job.summary({ signal }),
      () => job.cancel({ signal }),
      () => pawl.deleteCorpus(corpus, { signal }),
    ];
    for (const call of calls) await assert.rejects(call(), { message: 'enough' }, String(call));
    assert.equal((await job.summary()).state, 'queued');
    assert.equal((await pawl.jobs().all()).length, 1);
  });

  test('while sources are read leaves no job', async (t) => {
    const { pawl, data } = await setup(t, { work: false });
    const folder = join(data, 'docs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.txt'), 'A walrus.');
    writeFileSync(join(data, 'elsewhere.txt'), 'A lantern.');
    symlinkSync(join(data, 'elsewhere.txt'), join(folder, 'link.txt'));
    const controller = new AbortController();
    const onSkipped = (): void => controller.abort(new Error('enough'));
    const ingesting = pawl.ingest([folder], { corpus, onSkipped, signal: controller.signal });
    await assert.rejects(ingesting, { message: 'enough' });
    assert.deepEqual(await pawl.jobs().all(), []);
  });

  test('ends a wait, and the job goes on', async (t) => {
    const { pawl } = await setup(t, { work: false });
    const job = await pawl.ingest([cat], { corpus });
    const controller = new AbortController();
    const waiting = job.wait({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, { message: 'enough' });
    await pawl.work();
    assert.equal((await job.wait()).state, 'succeeded');
  });
});

describe('a closed Pawl', () => {
  test('is closed at the end of its scope by `await using`', async (t) => {
    const data = temporaryDirectory(t);
    let kept: Pawl;
    {
      await using pawl = await open({ data, work: false });
      await pawl.ingest([cat], { corpus });
      kept = pawl;
    }
    await assert.rejects(kept.jobs().all(), { code: 'pawl_closed' });
    const again = await open({ data, work: false });
    t.after(() => again.close());
    assert.equal((await again.jobs().all()).length, 1);
  });

  test('refuses every call with a failure that says so', async (t) => {
    const { pawl } = await setup(t, { work: false });
    const job = await pawl.ingest([cat], { corpus });
    await pawl.close();
    await pawl.close();
    const calls = [
      () => pawl.ingest([cat], { corpus }),
      () => pawl.estimate([cat], { corpus }),
      () => pawl.search(corpus, 'Lovelace'),
      () => pawl.job(job.id),
      () => pawl.jobs().all(),
      () => pawl.documents(corpus).page(),
      () => pawl.events().next(),
      () => pawl.batchTask('a'),
      () => pawl.batchTasks().all(),
      () => pawl.newestEvent(),
      () => pawl.work(),
      () => job.summary(),
      () => job.wait(),
      () => job.events().next(),
      () => job.cancel(),
    ];
    for (const call of calls) {
      const error = await call().then(
        () => assert.fail(`accepted: ${call}`),
        (each: unknown) => each,
      );
      assert.ok(error instanceof Failure, String(call));
      assert.deepEqual([error.code, error.kind], ['pawl_closed', 'fatal'], String(call));
      assert.match(`${error.message} ${error.advice}`, /closed.*open\(\)/);
    }
  });

  test('lets the calls before it finish, and rejects a wait for an unfinished job', async (t) => {
    const { pawl } = await setup(t, { work: false });
    const job = await pawl.ingest([cat], { corpus });
    const listing = pawl.jobs().page();
    const waiting = job.wait();
    const refused = assert.rejects(waiting, { code: 'pawl_closed' });
    // The list loads the contract first, so that the close would overtake it.
    await job.summary();
    const [page] = await Promise.all([listing, pawl.close()]);
    assert.equal(page.items.length, 1);
    await refused;
  });
});

describe('a preview', () => {
  test('extracts sources in order, without a store; one bad source stops no other', async (t) => {
    const folder = temporaryDirectory(t);
    writeFileSync(join(folder, 'page.html'), '<nav>menu</nav><main><p>A walrus rests.</p></main>');
    writeFileSync(join(folder, 'void.txt'), '');
    const preview = openPreview();
    t.after(() => preview.close());
    const seen = [];
    for await (const each of preview.extract([folder, cat], { dropped: true })) seen.push(each);
    const [page, bad, inline] = seen;
    assert.match(page?.document?.markdown ?? '', /A walrus rests/);
    assert.equal(bad?.failure?.code, 'empty_source');
    assert.equal(inline?.document?.title, 'The cat');
    assert.equal(seen.length, 3);
    await preview.close();
    await assert.rejects(preview.extract([cat]).next(), { code: 'pawl_closed' });
  });

  test('throws the reason of its signal', async () => {
    await using preview = openPreview();
    const controller = new AbortController();
    const { signal } = controller;
    const reading = preview.extract([cat, { id: 'dog', text: 'A dog.' }], { signal });
    await reading.next();
    controller.abort(new Error('enough'));
    await assert.rejects(reading.next(), { message: 'enough' });
  });
});

describe('from JavaScript', () => {
  test('unknown options are refused with the closest known name', async (t) => {
    const { pawl } = await setup(t, { work: false });
    await pawl.ingest([cat], { corpus });
    const js = untyped(pawl);
    const cases: [() => Promise<unknown> | undefined, RegExp][] = [
      [() => js.search?.(corpus, 'a', { topk: 3 }), /topk .* of search; .* topK$/],
      [() => js.search?.(corpus, 'a', { filter: { hst: 'a' } }), /hst .* search\.filter; .* host$/],
      [() => js.ingest?.([cat], { corpus, prioritty: 3 }), /prioritty .* ingest; .* priority$/],
      [() => js.ingest?.([cat], { corpus, webhookUrl: 'x' }), /webhookUrl is not an option/],
      [() => js.ingest?.([{ txt: 'a' }], { corpus }), /txt .* ingest\.sources\.0; .* text$/],
      [() => js.ingest?.(['https://a.example'], { corpus, crawl: { dept: 1 } }), /dept .* depth$/],
      [() => js.estimate?.([cat], { corpus, resume: true }), /resume is not an option of estimate/],
      [() => js.job?.('a', { sgnal: 1 }), /sgnal .* signal$/],
      [async () => pawl.jobs({ stat: 'queued' } as object).all(), /stat .* state$/],
      [async () => pawl.jobs({ limt: 3 } as object).all(), /limt .* limit$/],
      [async () => pawl.inbox({ corpusName: 'a' } as object).all(), /corpusName .* corpus$/],
      [() => open({ dta: 'x' } as OpenOptions), /dta is not an option of open; .* data$/],
    ];
    for (const [call, message] of cases) {
      await assert.rejects(async () => call(), { code: 'bad_request', message }, String(call));
    }
    assert.equal((await pawl.jobs().all()).length, 1);
  });

  test('wrong values are refused, and no bound is applied silently', async (t) => {
    const { pawl } = await setup(t, { work: false });
    await pawl.ingest([cat], { corpus });
    const js = untyped(pawl);
    const cases: [() => Promise<unknown> | undefined, RegExp][] = [
      [() => pawl.search(corpus, 'a', { topK: 101 }), /^topK must be <= 100$/],
      [() => pawl.search(corpus, ''), /^query must/],
      [() => js.search?.(corpus, 7), /^query must be string$/],
      [() => js.ingest?.('file.txt', { corpus }), /^the sources of ingest are a list, not string$/],
      [() => js.ingest?.([cat]), /^the options of ingest are an object, not undefined$/],
      [() => js.ingest?.([cat], {}), /^ingest needs the option corpus/],
      [() => js.ingest?.([cat], { corpus, priority: 10 }), /^priority must be <= 9$/],
      [() => js.ingest?.([cat], { corpus, lane: 'slow' }), /^lane must be one of now, cheap$/],
      [() => js.document?.(7), /^id must be string$/],
      [() => pawl.documents(corpus).page({ limit: 1000 }), /^limit must be <= 200$/],
      [() => pawl.entities(corpus, { limit: 100_000 }).all(), /^limit must be <= 10000$/],
    ];
    for (const [call, message] of cases) {
      await assert.rejects(async () => call(), { code: 'bad_request', message }, String(call));
    }
    assert.equal((await pawl.jobs().all()).length, 1);
  });
});
