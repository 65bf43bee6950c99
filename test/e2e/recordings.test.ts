/** Recordings in the cheap lane: from audio to search. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Job, open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { SarvamServer } from '../support/batch/sarvam-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { serveWeb } from '../support/web-server.ts';
import { openRunner } from './pawl-process.ts';

/** Bytes that start like a recording. */
const wave = (voice: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`RIFF\x24\0\0\0WAVEfmt \0\0\0\0${voice}`, 'latin1'));

async function ended(job: Job) {
  for await (const _ of job.events());
  return job.summary();
}

async function normalCosts(job: Job): Promise<string[]> {
  const costs: string[] = [];
  for await (const { kind, step, detail } of job.events()) {
    if (kind !== 'step_completed' || step !== 'content_extracted') continue;
    costs.push(Number(detail?.normal_cost_cents).toFixed(2));
  }
  return costs;
}

async function openWith(t: Cleanup, options: Parameters<typeof open>[0]): Promise<Pawl> {
  const timing = { batchPollMs: 50, batchGatherMs: 0 };
  const pawl = await open({ data: temporaryDirectory(t), ...timing, ...options });
  t.after(() => pawl.close());
  return pawl;
}

/** A site of recordings: each path has its own voice, for any request. */
const site = (t: Cleanup) =>
  serveWeb(t, (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const isThere = path.endsWith('.wav');
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'audio/wav' });
    response.end(isThere ? wave(path) : '');
  });

describe('recordings in the cheap lane', () => {
  test('become the text of their documents, and one that fails fails alone', async (t) => {
    const azure = new AzureServer();
    azure.pollsToGo = 1;
    azure.transcribe = (url) =>
      url.includes('noise') ? { error: 'nobody speaks' } : { text: `The harmonium of ${url}.` };
    await azure.start(t);
    const { host, origin } = await site(t);
    const pawl = await openWith(t, {
      allowHosts: [host],
      batchProviders: {
        azure: {
          ...{ url: azure.server.url, key: 'key' },
          ...{ cents_per_hour: 1800, normal_cents_per_hour: 3600 },
        },
      },
    });
    const urls = ['one.wav', 'two.wav', 'noise.wav'].map((name) => `${origin}/${name}`);
    const cheap = { corpus: 'talks', lane: 'cheap' } as const;
    const job = await pawl.ingest(urls, cheap);
    const { itemsDone, itemsFailed, partial, costCents } = await ended(job);
    assert.deepEqual([itemsDone, itemsFailed, partial], [2, 1, true]);
    // Two recordings of 4.12 s each: an hour costs 18 euro in a batch, and twice that live.
    assert.equal(costCents.toFixed(2), '4.12');
    assert.deepEqual(await normalCosts(job), ['4.12', '4.12']);
    const hits = await pawl.search('talks', 'harmonium', { mode: 'keyword' });
    assert.deepEqual(hits.map(({ sourceUrl }) => sourceUrl).sort(), urls.slice(0, 2));
    const [failed] = await pawl.inbox().all();
    assert.equal(failed?.error?.code, 'provider_rejected');
    assert.match(failed?.error?.message ?? '', /nobody speaks/);
    const paid = azure.server.count(/^POST /);
    assert.ok(paid >= 1 && paid <= urls.length);
    const [first = ''] = urls;
    const again = await ended(await pawl.ingest([first], cheap));
    assert.equal(again.state, 'succeeded');
    assert.equal(azure.server.count(/^POST /), paid, 'the same bytes are not paid for twice');
    const elsewhere = await pawl.ingest([`${first}?as=podcast`], cheap);
    const { costCents: nothing } = await ended(elsewhere);
    assert.equal(azure.server.count(/^POST /), paid, 'nor at another address');
    const { savedCents } = await elsewhere.summary();
    assert.deepEqual([nothing, savedCents.toFixed(2)], [0, '2.06']);
    assert.equal((await pawl.documents('talks').all()).length, 3);
  });

  test('that are files are sent to providers that accept bytes, each as its own job', async (t) => {
    const sarvam = new SarvamServer();
    sarvam.pollsToGo = 1;
    const heard = new Map([
      ['silence.wav', ''],
      ['noise.wav', undefined],
    ]);
    sarvam.transcribe = (file) => (heard.has(file) ? heard.get(file) : `A crane in ${file}.`);
    await sarvam.server.start(t);
    const place = openRunner(t);
    const names = ['one.wav', 'two.wav', ...heard.keys()];
    const files = names.map((name) => place.write(name, wave(name)));
    const pawl = await openWith(t, {
      batchProviders: { sarvam: { url: sarvam.server.url, key: 'key' } },
    });
    const job = await pawl.ingest(files, { corpus: 'talks', lane: 'cheap' });
    const { itemsDone, itemsFailed } = await ended(job);
    assert.deepEqual([itemsDone, itemsFailed], [2, 2]);
    const causes = (await pawl.causes()).map(({ cause }) => cause);
    assert.deepEqual(causes.sort(), ['no_usable_content', 'provider_rejected']);
    const hits = await pawl.search('talks', 'crane two', { mode: 'keyword', topK: 1 });
    assert.match(hits[0]?.text ?? '', /A crane in two\.wav/);
    const sent = [...sarvam.jobs.values()].flatMap((each) => [...each.files.entries()]);
    assert.deepEqual(new Map(sent).get('one.wav'), Buffer.from(wave('one.wav')));
    const documents = await pawl.documents('talks').all();
    assert.equal(documents.length, 2);
    const story = [];
    for await (const { kind } of job.history()) story.push(kind);
    assert.equal(story.filter((kind) => kind === 'item_deferred').length, 4);
    assert.equal(
      (await sessionOf(pawl).store.run({ text: 'SELECT id FROM batch_lines' })).length,
      0,
    );
  });

  test('are not sent if they exceed the budget, or their cost is unknown', async (t) => {
    const prices = [{ cents_per_hour: 1800, normal_cents_per_hour: 3600 }, {}];
    for (const price of prices) {
      const sarvam = new SarvamServer();
      await sarvam.server.start(t);
      const pawl = await openWith(t, {
        batchProviders: { sarvam: { url: sarvam.server.url, key: 'key', ...price } },
      });
      // Twenty seconds at least: ten cents.
      const file = openRunner(t).write('talk.wav', wave('talk'.repeat(80_000)));
      const job = await pawl.ingest([file], { corpus: 'talks', lane: 'cheap', budgetCents: 9 });
      await until(async () => (await job.summary()).state === 'paused', {
        what: 'the job to be paused',
      });
      assert.equal(sarvam.jobs.size, 0);
      assert.equal(
        (await sessionOf(pawl).store.run({ text: 'SELECT id FROM batch_lines' })).length,
        0,
      );
    }
  });

  const refusals: readonly [string, 'now' | 'cheap', boolean][] = [
    ['in the usual lane', 'now', true],
    ['without a transcription provider', 'cheap', false],
    ['without a provider that accepts bytes', 'cheap', true],
  ];
  for (const [title, lane, isConfigured] of refusals) {
    test(`are refused ${title}, with advice`, async (t) => {
      const azure = { url: 'http://127.0.0.1:9', key: 'key' };
      const pawl = await openWith(t, { ...(isConfigured && { batchProviders: { azure } }) });
      const path = openRunner(t).write('talk.wav', wave('talk'));
      const { itemsDone, itemsFailed } = await ended(
        await pawl.ingest([path], { corpus: 'talks', lane }),
      );
      assert.deepEqual([itemsDone, itemsFailed], [0, 1]);
      const [failed] = await pawl.inbox().all();
      assert.equal(failed?.error?.code, 'unsupported_mime');
      assert.match(failed?.error?.message ?? '', /submit it in the lane cheap, with a provider/);
    });
  }
});
