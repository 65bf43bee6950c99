import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { assemble } from '../../app/wire.ts';
import type { Event } from '../../observe/event.ts';
import { Metrics } from './metrics.ts';

test('the cost of models is counted by model, also if a price is unknown', async (t) => {
  const { database, close } = await assemble({ data: temporaryDirectory(t) });
  t.after(close);
  const metrics = new Metrics({ database, now: () => 0, streams: () => 0 });
  const paid = (seq: number, detail: Record<string, unknown>) => {
    const event: Event = { seq, at: 0, kind: 'work_paid', jobId: null, detail };
    return { event, caller: null, jobKey: null, isEnd: false, text: () => '' };
  };
  metrics.see([
    paid(1, { model: 'a', cost_cents: 1.5 }),
    paid(2, { model: 'a', cost_cents: 0.25 }),
    paid(3, { model: 'b', cost_cents: null }),
  ]);
  metrics.seeDependencies(undefined);
  const text = await metrics.read();
  assert.match(text, /^pawl_cost_cents_total\{model="a"\} 1\.75$/m);
  assert.match(text, /^pawl_cost_cents_total\{model="b"\} 0$/m);
  assert.doesNotMatch(text, /^pawl_dependency_ready\{/m, 'unconfigured parts have no metric');
});

/** A job that ends, and the events before it, as in the log. */
function published(...events: readonly Partial<Event>[]): Parameters<Metrics['see']>[0] {
  return events.map((event, index) => ({
    event: { seq: index + 1, at: 0, kind: 'job_started', jobId: 1, ...event },
    caller: null,
    jobKey: null,
    isEnd: false,
    text: () => '',
  }));
}

test('failed jobs are counted by their public code, documents by their own', async () => {
  const metrics = new Metrics({ now: () => 0, streams: () => 0 });
  const failed = { kind: 'item_failed', detail: { code: 'http_5xx' } } as const;
  const detail = { error_code: 'E_5XX_ORIGIN', stage: 'scraping', duration_ms: 2500 };
  metrics.see(published(failed, failed, { kind: 'job_failed', detail }));
  metrics.see(published({ kind: 'job_succeeded', detail: { duration_ms: 500 } }));
  const text = await metrics.read();
  assert.match(text, /^job_failures_total\{code="E_5XX_ORIGIN"\} 1$/m);
  assert.match(text, /^pawl_item_failures_total\{code="http_5xx"\} 2$/m);
  assert.match(text, /^jobs_failed_total\{stage="scraping"\} 1$/m);
  assert.match(text, /^job_duration_seconds_count 2$/m);
  assert.match(text, /^job_duration_seconds_sum 3$/m);
});

test('a wait that uses no retry is not counted as one', async () => {
  const metrics = new Metrics({ now: () => 0, streams: () => 0 });
  const scheduled = (spends_retry: boolean) =>
    ({ kind: 'retry_scheduled', detail: { spends_retry } }) as const;
  metrics.see(published(scheduled(true), scheduled(false), scheduled(false), scheduled(true)));
  assert.match(await metrics.read(), /^retry_attempts_total 2$/m);
});

test('only the embedding of texts counts as a write of the embedding service', async () => {
  const metrics = new Metrics({ now: () => 0, streams: () => 0 });
  for (const kind of ['embed', 'entities', 'complete', 'visit', 'embed']) metrics.seeWork(kind, 2);
  const text = await metrics.read();
  assert.match(text, /^embedding_request_duration_seconds_count\{operation="write"\} 2$/m);
});

test('steps are measured by the process that ran them, and by no other', async () => {
  const at = { at: 0, jobId: null, kind: 'step_completed', detail: { duration_ms: 1500 } } as const;
  const published = ['one', 'two'].flatMap((worker, place) =>
    ['chunked', 'embedded'].map((step, seq) => {
      const event: Event = { ...at, seq: 2 * place + seq + 1, step, worker };
      return { event, caller: null, jobKey: null, isEnd: false, text: () => '' };
    }),
  );
  const textOf = async (worker: string | undefined): Promise<string> => {
    const metrics = new Metrics({ now: () => 0, streams: () => 0, worker });
    await metrics.see(published);
    return metrics.read();
  };
  const own = await textOf('one');
  assert.match(own, /^embedding_request_duration_seconds_sum\{operation="write"\} 1\.5$/m);
  assert.match(own, /^chunking_duration_seconds_count 1$/m);
  // If services run the steps, the orchestrator does not measure them.
  const none = await textOf(undefined);
  assert.doesNotMatch(none, /^embedding_request_duration_seconds_count/m);
  assert.match(none, /^chunking_duration_seconds_count 0$/m);
  const chunking = new Metrics({ now: () => 0, streams: () => 0 });
  chunking.seeCut(0.5);
  assert.match(await chunking.read(), /^chunking_duration_seconds_sum 0\.5$/m);
});
