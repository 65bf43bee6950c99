/** `pawl serve`, as a process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../support/wait.ts';
import { openRunner } from './pawl-process.ts';

describe('pawl serve', () => {
  test('ingests the samples on the first start, prints its address, exits cleanly', async (t) => {
    const place = openRunner(t);
    const first = place.start(['serve', '--port', '0']);
    const [, address] = await first.seen(/Pawl listens on (http:\/\/127\.0\.0\.1:\d+)/);
    await first.seen(/11 documents indexed/);
    const response = await fetch(`${address}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ corpus_name: 'sample', query: 'refund for a late delivery' }),
    });
    const { results } = (await response.json()) as { results: { heading: string }[] };
    assert.match(results[0]?.heading ?? '', /How long a refund takes/);
    const stream = await fetch(`${address}/stream`);
    const told = stream.text();
    first.child.kill('SIGTERM');
    assert.equal((await first.finished).code, 0);
    assert.match(await told, /retry: \d+\n\n$/);

    const second = place.start(['serve', '--port', '0']);
    await second.seen(/Pawl listens on/);
    second.child.kill('SIGTERM');
    assert.doesNotMatch((await second.finished).stdout, /indexed/);
  });

  test('leaves an empty store empty on request', async (t) => {
    const place = openRunner(t);
    const started = place.start(['serve', '--port', '0', '--no-sample', '--json']);
    const [, address] = await started.seen(/"address":"([^"]+)"/);
    const { items } = (await (await fetch(`${address}/corpora`)).json()) as { items: unknown[] };
    assert.deepEqual(items, []);
    started.child.kill('SIGINT');
    assert.equal((await started.finished).code, 0);
  });

  test('without workers answers requests, does no work, and limits the queue', async (t) => {
    const place = openRunner(t);
    const environment = { PAWL_WORKERS: '0', PAWL_QUEUE_DEPTH_MAX: '1' };
    const started = place.start(['serve', '--port', '0', '--json'], { environment });
    const [, address] = await started.seen(/"address":"([^"]+)"/);
    const submit = async () => {
      const response = await fetch(`${address}/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ documents: [{ text: 'A heron.' }, { text: 'A crane.' }] }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const taken = await submit();
    assert.equal(taken.status, 202);
    const refused = await submit();
    assert.deepEqual([refused.status, refused.body.code], [429, 'queue_full']);
    assert.equal((await fetch(`${address}/readyz`)).status, 200);
    // Another process on the store does the work.
    const ended = await place.run(['jobs', 'show', String(taken.body.job_id), '--json']);
    assert.match(ended.stdout, /"status":"pending"/);
    const ingested = await place.run(['ingest', '-', '--corpus', 'a', '--json'], {
      environment,
      input: 'A stork.',
    });
    assert.equal(ingested.code, 0, ingested.stderr);
    started.child.kill('SIGTERM');
    await started.finished;
  });

  test('without keys listens on loopback only, and says why', async (t) => {
    const { code, stderr } = await openRunner(t).run(['serve', '--host', '0.0.0.0']);
    assert.equal(code, 64);
    assert.match(stderr, /without keys, every client that reaches Pawl may do everything/);
    assert.match(stderr, /PAWL_API_KEYS or PAWL_MEMBERSHIP_URL/);
  });

  test('reports that the port is in use', async (t) => {
    const place = openRunner(t);
    const started = place.start(['serve', '--port', '0', '--no-sample']);
    const [, port = ''] = await started.seen(/127\.0\.0\.1:(\d+)/);
    const { code, stderr } = await openRunner(t).run(['serve', '--port', port]);
    assert.deepEqual([code, /something else listens there/.test(stderr)], [64, true]);
    started.child.kill('SIGTERM');
    await started.finished;
  });

  test('resumes the work of a killed process', async (t) => {
    const place = openRunner(t);
    const environment = { PAWL_FAILPOINT: 'step.before-run:stop:20' };
    const first = place.start(['serve', '--port', '0'], { environment });
    await first.stopped();
    first.child.kill('SIGKILL');
    await first.finished;
    const second = place.start(['serve', '--port', '0', '--no-sample']);
    const [, address] = await second.seen(/(http:\/\/127\.0\.0\.1:\d+)/);
    const isDone = async () => {
      const answer = await fetch(`${address}/jobs`);
      const { items } = (await answer.json()) as { items: { status: string }[] };
      return items[0]?.status === 'done';
    };
    await until(isDone, { what: 'the job of the first' });
    second.child.kill('SIGTERM');
    assert.equal((await second.finished).code, 0);
  });
});
