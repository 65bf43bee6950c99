import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, JobCounts } from '../../index.ts';
import type { Call } from '../command.ts';
import type { JobClient } from '../pawl-client.ts';
import { Progress } from './progress.ts';
import { openView } from './progress-view.ts';

/** A view without a terminal, and the lines that it prints. */
function setup() {
  const lines: string[] = [];
  const terminal = { isLive: false, tell: (line: string) => lines.push(line) };
  const call = { isJson: false, terminal } as unknown as Call;
  return { lines, view: openView(call, { id: 'job', corpus: 'notes' } as JobClient) };
}

function counts(items: Partial<JobCounts['items']>): JobCounts {
  const none = { total: 10, done: 0, failed: 0, canceled: 0, waiting: 0 };
  return { state: 'running', items: { ...none, ...items } } as JobCounts;
}

const event = (kind: Event['kind'], detail: Event['detail']): Event => ({
  seq: 1,
  at: 1000,
  jobId: 1,
  itemId: 7,
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
  progress.recount(counts({ done: 8, waiting: 1 }), 1000);
  assert.equal(progress.pace, '8.0/s, 250 ms left');
  progress.recount(counts({ done: 8, waiting: 2 }), 1000);
  assert.equal(progress.pace, '');
});
