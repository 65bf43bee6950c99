import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobState } from '../../kernel/lifecycle/job.ts';
import type { JobRow } from '../../store/job/jobs.ts';
import { isGoodEnough } from './hot-jobs.ts';
import type { JobView } from './job-views.ts';

const now = 1_000_000;

function jobView(changes: {
  version?: number;
  ageMs?: number;
  state?: JobState;
  isWhole?: boolean;
}) {
  const { version = 10, ageMs = 0, state = 'running', isWhole = true } = changes;
  const row = { state } as JobRow;
  return { version, at: now - ageMs, row, isWhole } as JobView;
}

const known = (last: number, lastState = 0) => ({ last, lastState });

const rows: readonly (readonly [
  what: string,
  jobView: JobView,
  known: { last: number; lastState: number },
  isGoodEnough: boolean,
])[] = [
  ['all events are in it', jobView({}), known(10, 10), true],
  ['its state has changed since', jobView({}), known(11, 11), false],
  ['counts changed a moment ago', jobView({ ageMs: 250 }), known(11), true],
  ['counts changed longer ago', jobView({ ageMs: 251 }), known(11), false],
  ['it was counted before it was read, a moment ago', jobView({ isWhole: false }), known(1), true],
  [
    'it was counted before it was read, longer ago',
    jobView({ isWhole: false, ageMs: 251 }),
    known(1),
    false,
  ],
  ['nothing has happened for a while', jobView({ ageMs: 5_000 }), known(10), true],
  ['nothing has happened for long', jobView({ ageMs: 5_001 }), known(10), false],
  [
    'it has ended, and nothing will happen',
    jobView({ ageMs: 50_000, state: 'succeeded' }),
    known(10),
    true,
  ],
  ['it had ended, and was retried since', jobView({ state: 'succeeded' }), known(12, 12), false],
  ['its writer has a clock that is far ahead', jobView({ ageMs: -60_000 }), known(10), false],
];

for (const [what, view, events, expected] of rows) {
  test(`a view is ${expected ? '' : 'not '}fresh enough if ${what}`, () => {
    assert.equal(isGoodEnough(view, events, now), expected);
  });
}
