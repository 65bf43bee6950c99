/** The time limit of a job, as its caller sees it. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Cause, Job, JobDetail } from '../../src/contract/schema/schema.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

const week = 7 * 24 * 3600;

/** A site that answers only the request for its robots.txt. */
async function silentSite(t: Cleanup): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('max_wall_seconds', () => {
  test('past it, open documents fail with code and advice, in events and log', async (t) => {
    const host = await silentSite(t);
    const { ask, submit, ended, lines } = await openBench(t, { allowHosts: [host] });
    const url = `http://${host}/page`;
    const id = await submit({ url, corpus_name: 'a', max_wall_seconds: 1 });
    const job = (await ended(id)) as JobDetail;
    assert.deepEqual([job.status, job.state, job.failed_stage], ['failed', 'failed', 'scraping']);
    assert.deepEqual([job.error?.code, job.error?.error_code], ['timeout_hard', 'E_TIMEOUT']);
    assert.deepEqual([job.max_wall_seconds, job.deadline_at], [1, null]);
    assert.ok(job.counters.duration_seconds >= 1);
    const params = { id };
    const { body: history } = await ask<{ items: { kind: string; detail: object }[] }>(
      'GET /jobs/:id/events',
      { params },
    );
    const overdue = history.items.find(({ kind }) => kind === 'job_overdue');
    const [reason, message] = ['timeout_hard', 'the job ran for longer than its 1 s'];
    const told = { from: 'running', to: 'running', reason, message, max_wall_seconds: 1 };
    assert.deepEqual(overdue?.detail, told);
    // A stream can end with the job before the same events have been logged.
    const logged = await until(
      () => lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'job_overdue'),
      { what: 'the line of the overdue job' },
    );
    assert.deepEqual(
      [logged.job_id, logged.from, logged.reason, logged.attempt],
      [id, 'running', reason, 1],
    );
    const { body: inbox } = await ask<{ causes: Cause[] }>('GET /inbox');
    const [cause] = inbox.causes;
    assert.deepEqual([cause?.cause, cause?.count], ['timeout_hard', 1]);
    assert.match(cause?.advice ?? '', /max_wall_seconds/);
  });

  test('without it, a job has a week; uploads accept it, too', async (t) => {
    const { ask, submit, service } = await openBench(t, { work: false });
    const id = await submit({ documents: [{ text: 'A heron.' }], corpus_name: 'a' });
    const { body: job } = await ask<JobDetail>('GET /jobs/:id', { params: { id } });
    assert.deepEqual([job.max_wall_seconds, job.deadline_at], [week, null]);
    const form = new FormData();
    form.set('corpus_name', 'a');
    form.set('max_wall_seconds', '90');
    form.append('file', new Blob(['A heron.']), 'heron.txt');
    const answer = await fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form });
    assert.equal(answer.status, 202);
    const { body: list } = await ask<{ items: Job[] }>('GET /jobs');
    assert.deepEqual(
      list.items.map(({ max_wall_seconds }) => max_wall_seconds),
      [90, week],
    );
  });

  for (const given of [0, -1, 1.5, week + 1, '60', null]) {
    test(`refuses ${JSON.stringify(given)}`, async (t) => {
      const { ask } = await openBench(t, { work: false });
      const documents = [{ text: 'A heron.' }];
      const body = { documents, corpus_name: 'a', max_wall_seconds: given };
      const { status, body: problem } = await ask('POST /jobs', { body });
      assert.deepEqual([status, problem.code], [400, 'bad_request']);
      assert.match(String(problem.detail), /max_wall_seconds/);
    });
  }
});

test('pawl ingest --max-wall-seconds sets the limit, and refuses an invalid one', async (t) => {
  const runner = openRunner(t);
  runner.write('heron.txt', 'The heron waits at the weir.');
  const args = ['ingest', 'heron.txt', '--corpus', 'a', '--max-wall-seconds'];
  const refused = await runner.run([...args, '0']);
  assert.equal(refused.code, 64, refused.stderr);
  assert.match(refused.stderr, /--max-wall-seconds must be a whole number from 1 to 604800/);
  assert.equal((await runner.run([...args, '90'])).code, 0);
  const list = await runner.readOne<{ items: Job[] }>(['jobs', 'list']);
  assert.equal(list.items[0]?.max_wall_seconds, 90);
});
