import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../contract/schema/schema.ts';
import type { Call } from '../command.ts';
import type { JobClient, JobCounts } from '../pawl-client.ts';
import { Progress } from './progress.ts';
import { openView } from './progress-view.ts';

/** A view without a terminal, and the lines that it prints. */
function setup() {
  const lines: string[] = [];
  const terminal = { isLive: false, tell: (line: string) => lines.push(line) };
  const call = { isJson: false, terminal } as unknown as Call;
  return { lines, view: openView(call, { id: 'job', corpus: 'notes' } as JobClient) };
}

function counts(items: Partial<JobCounts>): JobCounts {
  const none = { items_total: 10, items_done: 0, items_failed: 0 };
  const rest = { items_canceled: 0, items_waiting: 0, pause_reason: null };
  return { state: 'running', ...none, ...rest, ...items };
}

const event = (kind: Event['kind'], detail: Event['detail']): Event => ({
  seq: 1,
  at: '1970-01-01T00:00:01.000Z',
  job_id: 'job',
  item_id: 7,
  step: null,
  attempt: null,
  worker: null,
  kind,
  detail,
});

test('a long wait is printed with its reason, a short one is not', () => {
  const { lines, view } = setup();
  view.see(event('retry_scheduled', { due_at: 1500, reason: 'network_error: soon' }));
  view.see(event('retry_scheduled', { due_at: 61_000, reason: '403_waf: attempt 2 of 7 in 60 s' }));
  assert.deepEqual(lines, ['waiting: 403_waf: attempt 2 of 7 in 60 s (pawl inbox show 7)']);
});

test('a failure is printed once, with its source', () => {
  const { lines, view } = setup();
  const source = 'https://example.com/a';
  const said = { source, code: 'http_404', message: 'example.com answered 404' };
  view.see(event('item_failed', said));
  view.see(event('item_failed', { ...said, code: 'empty_source', message: `${source} is empty` }));
  assert.deepEqual(lines, [
    `failed: ${source}: example.com answered 404 (http_404)`,
    `failed: ${source} is empty (empty_source)`,
  ]);
});

test('no remaining time is shown while every open document waits for a retry', () => {
  const progress = new Progress(counts({}));
  progress.recount(counts({}), 0);
  progress.recount(counts({ items_done: 8, items_waiting: 1 }), 1000);
  assert.equal(progress.pace, '8.0/s, 250 ms left');
  progress.recount(counts({ items_done: 8, items_waiting: 2 }), 1000);
  assert.equal(progress.pace, '');
});
