/** Health, metrics and documentation of the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { contract, type Route, type RouteName } from '../../src/contract/contract.ts';
import { type Manual, manual } from '../../src/contract/manual/manual.ts';
import { until } from '../support/wait.ts';
import { type Asking, openBench } from './api-client.ts';

describe('the service', () => {
  test('is alive, ready, measured and documented', async (t) => {
    const bench = await openBench(t);
    await bench.ended(await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] }));
    assert.deepEqual((await bench.ask('GET /healthz')).body, { status: 'ok' });
    assert.equal((await bench.ask('GET /readyz')).body.ready, true);
    // A stream can end with the job before the same events have been counted.
    const isCounted = (text: string) => text.includes('job_duration_seconds_count 1');
    const metrics = await until(
      async () => {
        const { body } = await bench.ask<string>('GET /metrics');
        return isCounted(body) ? body : undefined;
      },
      { what: 'the end of the job to be counted' },
    );
    for (const line of [
      'jobs_inflight{type="ingest"} 0',
      'job_duration_seconds_count 1',
      'queue_depth{queue="turns"} 0',
      'retry_attempts_total 0',
      'chunking_duration_seconds_count 1',
      'embedding_request_duration_seconds_count{operation="write"} 1',
      'pawl_items_without_forward_cause 0',
      'pawl_webhooks{state="failed"} 0',
    ]) {
      assert.ok(metrics.includes(line), line);
    }
    for (const name of ['job_failures_total', 'jobs_failed_total']) {
      assert.ok(metrics.includes(`# TYPE ${name} counter`), name);
    }
    const docs = await bench.ask<string>('GET /docs');
    assert.match(docs.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    for (const name of Object.keys(contract)) {
      assert.ok(docs.body.includes(name.split(' ')[1] ?? ''), name);
    }
  });

  test('accepts every documented example', async (t) => {
    const { ask, ended } = await openBench(t);
    const routes = Object.entries(contract) as [RouteName, Route][];
    // Forms are not JSON, streams do not end, and these two leave the machine.
    const isLeft = (name: string, { takes, media }: Route): boolean =>
      takes !== undefined || media !== undefined || /scrape|enqueue/.test(name);
    for (const [name, route] of routes.filter((each) => !isLeft(...each))) {
      const { params, query, headers, body } = manual[name] as Manual;
      const answer = await ask(name, { params, query, headers, body } as Asking);
      if (name === 'POST /jobs') {
        assert.equal(answer.status, route.status);
        await ended(String(answer.body.job_id));
      }
      const accepted = answer.status === route.status || answer.body.code !== 'bad_request';
      assert.ok(accepted, `${name}: ${JSON.stringify(answer.body)}`);
    }
  });

  test('has a page with commands that work when they are pasted', async (t) => {
    const { ask, service, ended } = await openBench(t);
    const { body } = await ask<string>('GET /docs');
    const blocks = [...body.matchAll(/<pre>(curl [^<]+)<\/pre>/g)].map(([, text = '']) =>
      text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
    );
    assert.equal(blocks.length, Object.keys(contract).length);
    const env = { ...process.env, PAWL: service.address, PAWL_KEY: 'none' };
    const run = async (part: string): Promise<Record<string, unknown>> => {
      const command = blocks.find((block) => block.includes(part)) ?? '';
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
      return JSON.parse(stdout);
    };
    const { job_id } = await run('idempotency-key: welcome');
    await ended(String(job_id));
    const { results } = (await run('v1/search"')) as { results: { text: string }[] };
    assert.match(results[0]?.text ?? '', /workshop opens at nine/);
    assert.equal((await run('-X DELETE \\\n  "$PAWL/v1/corpora/handbook"')).deleted, 1);
  });

  test('describes each route, and only referenced schemas', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const { body } = await ask<{ paths: Record<string, Record<string, { operationId: string }>> }>(
      'GET /openapi.json',
    );
    const operations = Object.values(body.paths).flatMap((path) => Object.values(path));
    assert.equal(operations.length, Object.keys(contract).length);
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
    const text = JSON.stringify(body);
    const schemas = (body as unknown as { components: { schemas: object } }).components.schemas;
    for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      assert.ok(Object.hasOwn(schemas, name), name);
    }
  });
});
