import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobState } from '../../kernel/lifecycle/job.ts';
import type { JobRow } from '../../store/job/jobs.ts';
import { isGoodEnough } from './hot-jobs.ts';
import type { JobView } from './job-views.ts';

const now = 1_000_000;

function picture(changes: {
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
  picture: JobView,
  known: { last: number; lastState: number },
  isGoodEnough: boolean,
])[] = [
  ['all events are in it', picture({}), known(10, 10), true],
  ['its state has changed since', picture({}), known(11, 11), false],
  ['counts have changed since, a moment ago', picture({ ageMs: 250 }), known(11), true],
  ['counts have changed since, for longer', picture({ ageMs: 251 }), known(11), false],
  ['it was counted before it was read, a moment ago', picture({ isWhole: false }), known(1), true],
  [
    'it was counted before it was read, for longer',
    picture({ isWhole: false, ageMs: 251 }),
    known(1),
    false,
  ],
  ['nothing has happened for a while', picture({ ageMs: 5_000 }), known(10), true],
  ['nothing has happened for long', picture({ ageMs: 5_001 }), known(10), false],
  [
    'it has ended, and nothing will happen',
    picture({ ageMs: 50_000, state: 'succeeded' }),
    known(10),
    true,
  ],
  ['it had ended, and was retried since', picture({ state: 'succeeded' }), known(12, 12), false],
  ['its writer has a clock that is far ahead', picture({ ageMs: -60_000 }), known(10), false],
];

for (const [what, view, events, expected] of rows) {
  test(`a view is ${expected ? '' : 'not '}good enough where ${what}`, () => {
    assert.equal(isGoodEnough(view, events, now), expected);
  });
}
