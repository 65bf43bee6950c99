/** The stream of a job in a plain EventSource: `onmessage` receives the job. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sentEvents } from '../../src/client/sent-events.ts';
import { startOpenaiServer } from '../support/openai-server.ts';
import { makeLatch } from '../support/test-world.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';
import { openSite } from './web-site.ts';

interface SentJob {
  readonly job_id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

const statusesOf = (jobs: readonly SentJob[]): string[] => jobs.map(({ status }) => status);

/** The messages until the job or the stream has ended. */
function follow({ service }: Bench, id: string, headers: Record<string, string> = {}) {
  const jobs: SentJob[] = [];
  const read = async (): Promise<SentJob[]> => {
    const response = await fetch(`${service.address}/jobs/${id}/stream`, { headers });
    if (response.status === 204) return jobs;
    for await (const { type, body } of sentEvents(response)) {
      if (type !== 'message' || body === '') continue;
      const job: SentJob = JSON.parse(body);
      jobs.push(job);
      if (job.status === 'done' || job.status === 'failed') break;
    }
    return jobs;
  };
  return { jobs, ended: read() };
}

describe('the unnamed messages of GET /jobs/{id}/stream', () => {
  test('carry the job at each change of its status', async (t) => {
    const site = await openSite(t);
    site.hold('/page');
    const provider = await startOpenaiServer(t);
    const [asked, answer] = [makeLatch(), makeLatch()];
    provider.script = async () => {
      asked.open();
      await answer.opened;
      return undefined;
    };
    t.after(answer.open);
    const embedder = { choice: 'openai:tiny', url: provider.url };
    const bench = await openBench(t, { allowHosts: [site.host], embedder });
    const url = `${site.origin}/page`;
    const id = await bench.submit({ corpus_name: 'a', url });
    const { jobs, ended } = follow(bench, id);
    await until(() => jobs.at(-1)?.status === 'scraping', { what: 'the page to be fetched' });
    site.release('/page');
    await asked.opened;
    await until(() => jobs.at(-1)?.status === 'embedding', { what: 'the chunks to be embedded' });
    answer.open();
    assert.deepEqual(statusesOf(await ended), [
      ...['pending', 'scraping', 'chunking', 'embedding', 'done'],
    ]);
    for (const job of jobs) {
      assert.deepEqual([job.job_id, job.url, job.corpus_name], [id, url, 'a']);
      assert.match(String(job.updated_at), /^\d{4}-.*Z$/);
    }
    assert.deepEqual(
      jobs.map(({ message }) => message),
      [
        ...['Job queued', 'Fetching content…', 'Processing content…', 'Indexing content…'],
        'Document indexed — ready to search',
      ],
    );
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['queued', 'running', 'running', 'running', 'succeeded'],
    );
  });

  test('skip no status of a fast job', async (t) => {
    const bench = await openBench(t);
    const documents = Array.from({ length: 3 }, (_, place) => ({ text: `A heron ${place}.` }));
    for (let round = 0; round < 5; round += 1) {
      const id = await bench.submit({ corpus_name: 'a', documents, force: true });
      const all = ['pending', 'scraping', 'chunking', 'embedding', 'done'];
      assert.deepEqual(statusesOf(await follow(bench, id).ended), all);
      // A client that connects after the end receives the same.
      assert.deepEqual(statusesOf(await follow(bench, id).ended), all);
    }
  });

  test('contain the stage and the error of a failed job', async (t) => {
    const site = await openSite(t);
    site.break('/gone');
    const bench = await openBench(t, { allowHosts: [site.host] });
    const id = await bench.submit({ corpus_name: 'a', url: `${site.origin}/gone` });
    const jobs = await follow(bench, id).ended;
    assert.deepEqual(statusesOf(jobs), ['pending', 'scraping', 'failed']);
    const { failed_stage, error, message } = jobs.at(-1) as SentJob;
    assert.deepEqual(
      [failed_stage, (error as { code: string }).code, message],
      ['scraping', 'http_404', 'Could not fetch the URL. Check that it is accessible.'],
    );
  });

  test('contain the end for a client that lost the connection just before it', async (t) => {
    const bench = await openBench(t);
    const id = await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] });
    await bench.ended(id);
    const { body } = await bench.ask<{ items: { seq: number }[] }>('GET /jobs/:id/events', {
      params: { id },
    });
    const seqs = body.items.map(({ seq }) => seq);
    const last = { 'last-event-id': String(seqs.at(-2)) };
    assert.equal(statusesOf(await follow(bench, id, last).ended).at(-1), 'done');
    const text = await (await fetch(`${bench.service.address}/jobs/${id}/stream`)).text();
    const [before = '', after] = text.split(`id: ${seqs.at(-1)}\n`);
    assert.match(before, /"status":"done"[^\n]*\n\n$/);
    assert.match(after ?? '', /^event: event\ndata: .*job_succeeded/);
  });

  test('start again when a failed job is retried', async (t) => {
    const site = await openSite(t);
    site.break('/later');
    const bench = await openBench(t, { allowHosts: [site.host] });
    const id = await bench.submit({ corpus_name: 'a', url: `${site.origin}/later` });
    await bench.ended(id);
    site.mend('/later');
    await bench.ask('POST /jobs/:id/retry', { params: { id } });
    const statuses = statusesOf(await follow(bench, id).ended);
    assert.equal(statuses.at(-1), 'done');
    assert.ok(!statuses.includes('failed'), statuses.join());
  });
});
