import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../src/contract/schema/schema.ts';
import { timelineOf } from './timeline.ts';

const event = (at: number, kind: Event['kind'], more: Partial<Event> = {}): Event => ({
  seq: at,
  at: new Date(at).toISOString(),
  kind,
  job_id: 'job',
  item_id: 1,
  step: null,
  attempt: 1,
  worker: 'w',
  detail: {},
  ...more,
});

describe('the timeline of a document', () => {
  test('has one run per execution of a step, and parallel runs overlap', () => {
    const runs = timelineOf(
      [
        event(10, 'step_started', { step: 'chunked' }),
        event(10, 'step_started', { step: 'embedded' }),
        event(30, 'step_completed', { step: 'embedded', detail: { model: 'm', cost_cents: 2 } }),
        event(40, 'step_completed', { step: 'chunked', detail: { chunks: 3 } }),
        event(40, 'step_started', { step: 'fetched', item_id: 2 }),
      ],
      1,
    );
    assert.deepEqual(
      runs.map(({ step, startedAt, endedAt, outcome, notes }) => [
        step,
        startedAt,
        endedAt,
        outcome,
        notes,
      ]),
      [
        ['chunked', 10, 40, 'done', ['3 chunks']],
        ['embedded', 10, 30, 'done', ['m']],
      ],
    );
    assert.equal(runs[1]?.costCents, 2);
  });

  test('shows the reason of a retry, and the next try as its own run', () => {
    const runs = timelineOf(
      [
        event(1, 'step_started', { step: 'fetched' }),
        event(2, 'step_failed', { step: 'fetched', detail: { code: 'http_503' } }),
        event(2, 'retry_scheduled', { step: 'fetched', detail: { reason: 'again in 2 s' } }),
        event(9, 'step_started', { step: 'fetched', attempt: 2 }),
      ],
      1,
    );
    assert.deepEqual(
      runs.map(({ attempt, outcome, notes }) => [attempt, outcome, notes]),
      [
        [1, 'failed', ['http_503', 'again in 2 s']],
        [2, 'open', []],
      ],
    );
  });

  test('ends the run of a lost worker', () => {
    const runs = timelineOf(
      [event(1, 'step_started', { step: 'fetched' }), event(5, 'lease_lost')],
      1,
    );
    assert.deepEqual([runs[0]?.outcome, runs[0]?.endedAt], ['lost', 5]);
  });
});
