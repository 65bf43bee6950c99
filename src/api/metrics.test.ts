import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { assemble } from '../main.ts';
import type { Event } from '../observe/event.ts';
import { Metrics } from './metrics.ts';

test('what models were paid is counted by model, also where a price is unknown', async (t) => {
  const { database, close } = await assemble({ data: temporaryDirectory(t) });
  t.after(close);
  const metrics = new Metrics({ database, now: () => 0, streams: () => 0 });
  const paid = (seq: number, detail: Record<string, unknown>) => {
    const event: Event = { seq, at: 0, kind: 'work_paid', jobId: null, detail };
    return { event, caller: null, jobKey: null, isEnd: false, text: () => '' };
  };
  await metrics.see([
    paid(1, { model: 'a', cost_cents: 1.5 }),
    paid(2, { model: 'a', cost_cents: 0.25 }),
    paid(3, { model: 'b', cost_cents: null }),
  ]);
  metrics.seeStanding(undefined);
  const text = await metrics.read();
  assert.match(text, /^pawl_cost_cents_total\{model="a"\} 1\.75$/m);
  assert.match(text, /^pawl_cost_cents_total\{model="b"\} 0$/m);
  assert.doesNotMatch(text, /^pawl_dependency_ready\{/m, 'what is not configured has no figure');
});

test('only the embedding of texts counts as a write of the embedding service', async () => {
  const metrics = new Metrics({ now: () => 0, streams: () => 0 });
  for (const kind of ['embed', 'entities', 'complete', 'visit', 'embed']) metrics.seeWork(kind, 2);
  const text = await metrics.read();
  assert.match(text, /^embedding_request_duration_seconds_count\{operation="write"\} 2$/m);
});
