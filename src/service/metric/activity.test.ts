import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../kernel/limits/limits.ts';
import { Activity } from './activity.ts';

const { intervalMs, keptMs, timesMax } = limits.activity;

function setup() {
  let now = 10 * keptMs;
  const activity = new Activity(() => now);
  return {
    activity,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

describe('the activity of a process', () => {
  test('is counted by interval, and idle intervals are absent', () => {
    const { activity, wait } = setup();
    activity.count('documents');
    activity.count('documents');
    wait(3 * intervalMs);
    activity.count('failures');
    const readings = activity.read();
    assert.deepEqual(
      readings.map(({ counts }) => [counts.documents, counts.failures]),
      [
        [2, 0],
        [0, 1],
      ],
    );
    const [first, second] = readings;
    assert.equal((second?.at ?? 0) - (first?.at ?? 0), 3 * intervalMs);
    assert.equal(first?.searches, null);
  });

  test('has the median and the slow end of its times', () => {
    const { activity } = setup();
    for (let ms = 1; ms <= 100; ms += 1) activity.time('searches', ms);
    assert.deepEqual(activity.read()[0]?.searches, { p50: 50, p95: 95 });
  });

  test('is forgotten after an hour, and keeps a bounded number of times', () => {
    const { activity, wait } = setup();
    for (let place = 0; place < 3 * timesMax; place += 1) activity.time('requests', place);
    const [reading] = activity.read();
    assert.equal(reading?.counts.requests, 3 * timesMax);
    assert.ok((reading?.requests?.p50 ?? 0) >= 2 * timesMax, 'only the newest times count');
    wait(keptMs + intervalMs);
    assert.deepEqual(activity.read(), []);
  });
});
