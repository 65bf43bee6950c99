import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTime, parseSchedule } from './schedule.ts';

const next = (text: string, now: string): string =>
  new Date(nextTime(parseSchedule(text), Date.parse(now))).toISOString();

const cases: readonly [schedule: string, now: string, expected: string][] = [
  ['every 15m', '2026-01-01T00:00:10Z', '2026-01-01T00:15:10.000Z'],
  ['10s', '2026-01-01T00:00:00Z', '2026-01-01T00:00:10.000Z'],
  ['2h', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00.000Z'],
  ['* * * * *', '2026-01-01T00:00:59Z', '2026-01-01T00:01:00.000Z'],
  ['0 3 * * *', '2026-01-01T03:00:00Z', '2026-01-02T03:00:00.000Z'],
  ['*/20 * * * *', '2026-01-01T00:41:00Z', '2026-01-01T01:00:00.000Z'],
  ['30 9-17/4 * * 1-5', '2026-01-02T18:00:00Z', '2026-01-05T09:30:00.000Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 0 31 12 *', '2026-12-31T00:00:00Z', '2027-12-31T00:00:00.000Z'],
  ['0 0 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00.000Z'],
  ['0 0 13 * 5', '2026-01-03T00:00:00Z', '2026-01-09T00:00:00.000Z'],
];

for (const [schedule, now, expected] of cases) {
  test(`${schedule} after ${now} is ${expected}`, () => {
    assert.equal(next(schedule, now), expected);
  });
}

for (const text of [
  '',
  '5',
  'every 1s',
  '0m',
  '400d',
  '1d..15m',
  '15m..',
  '15m..400d',
  '61 * * * *',
  '* * * *',
  '5-1 * * * *',
]) {
  test(`the schedule ${JSON.stringify(text)} is refused with the forms that are allowed`, () => {
    assert.throws(() => parseSchedule(text), { code: 'bad_request' });
  });
}

test('the first of two intervals is doubled after each quiet run, up to the second', () => {
  const schedule = parseSchedule('every 15m..2h');
  const minutes = [0, 1, 2, 3, 4, 1000].map((runs) => nextTime(schedule, 0, runs) / 60_000);
  assert.deepEqual(minutes, [15, 30, 60, 120, 120, 120]);
});

test('a date that never comes is refused', () => {
  assert.throws(() => nextTime(parseSchedule('0 0 30 2 *'), 0), /never comes/);
});
