/** The arithmetic of the capacity model, against cases computed by hand. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { document } from '../../bench/scale/measured.ts';
import { busyDay, flatDay, flowOfDay, needOf, waitingShare } from '../../bench/scale/model.ts';
import { reportScale, sizeText } from '../../bench/scale/report.ts';
import { planOf, scenarios } from '../../bench/scale/scenario.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { root } from './deploy-files.ts';

const nearly = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < 1e-9, `${value} is not ${expected}`);
const cost = (micros: number) => ({ micros, evidence: 'measured', from: 'here' }) as const;

describe('waiting time', () => {
  test('with one server, the share of waiting work equals the load', () => {
    for (const load of [0.1, 0.5, 0.9]) nearly(waitingShare(1, load), load);
  });

  test('with two servers and a load of one, a third waits', () =>
    nearly(waitingShare(2, 1), 1 / 3));

  test('without load nothing waits, and with overload it waits forever', () => {
    assert.equal(waitingShare(4, 0), 0);
    assert.equal(waitingShare(4, 4), 1);
    assert.ok(waitingShare(5000, 4990) < 1, 'thousands of servers do not overflow');
  });
});

describe('the size of a part', () => {
  const machine = { cores: 16, loadMax: 0.5 };

  test('has cores for the work and the headroom, and machines for the cores', () => {
    const need = needOf({ name: 'a', costs: [cost(20_000), cost(30_000)] }, 400, machine);
    // 50 ms at 400 per second are 20 busy cores, and 40 with headroom.
    assert.deepEqual([need.cores, need.machines, need.load], [40, 3, 0.5]);
    assert.deepEqual([need.millisPerDocument, need.machineRateMax], [50, 320]);
    assert.equal(need.evidence, 'measured');
  });

  test('one server matches the M/M/1 formula', () => {
    // 10 ms at 40 per second: load 0.4, and a wait of 0.4 / 0.6 of the service time.
    const need = needOf({ name: 'a', costs: [cost(10_000)] }, 40, machine);
    nearly(need.waitMs, (0.4 / 0.6) * 10);
  });

  test('single-core parts have a machine for each core', () => {
    const single = { name: 'redis', costs: [cost(100)], times: 2, isSingle: true };
    const need = needOf(single, 10_000, machine);
    assert.deepEqual([need.cores, need.machines, need.machineRateMax], [4, 4, 5000]);
  });

  test('a part with one assumed input is marked as assumed', () => {
    const guess = { ...cost(1), evidence: 'assumed' as const };
    assert.equal(needOf({ name: 'a', costs: [cost(1), guess] }, 1, machine).evidence, 'assumed');
  });
});

describe('a day', () => {
  test('has 24 hours, at any load', () => {
    for (const curve of [flatDay, busyDay(1), busyDay(2)]) {
      nearly(
        curve.reduce((sum, share) => sum + share, 0),
        1,
      );
    }
    nearly(Math.max(...busyDay(2)), 2 / 24);
    assert.throws(() => busyDay(3), /a night of less than none/);
  });

  test('leaves no backlog with enough capacity, and the missing part without', () => {
    const documents = 24 * 3600;
    const day = (capacity: number) =>
      flowOfDay([{ name: 'a', capacity }], { documents, curve: flatDay })[0];
    assert.deepEqual(day(1), { name: 'a', backlogMax: 0, emptyAtHour: 0, leftOver: 0 });
    const half = day(0.5);
    assert.deepEqual([half?.leftOver, half?.emptyAtHour], [documents / 2, 24]);
  });

  test('catches up after an outage with the spare capacity', () => {
    // One per second arrives, two can be done: a two-hour outage takes two hours to catch up.
    const away = { from: 12, to: 14 };
    const stages = [
      { name: 'first', capacity: 2 },
      { name: 'second', capacity: 2, away },
      { name: 'third', capacity: 1.5 },
    ];
    const [first, second, third] = flowOfDay(stages, { documents: 24 * 3600, curve: flatDay });
    assert.equal(first?.backlogMax, 0);
    assert.equal(second?.backlogMax, 7200);
    assert.ok(Math.abs((second?.emptyAtHour ?? 0) - 16) < 0.05, String(second?.emptyAtHour));
    assert.ok((third?.backlogMax ?? 0) > 0, 'a part that catches up loads the next one');
    assert.equal(third?.leftOver, 0);
  });
});

describe('the plans', () => {
  const [small, large] = scenarios.map(planOf);

  test('ten times the size has ten times the words, and no more messages', () => {
    const kept = (plan = small) => plan?.storage[1]?.bytes ?? 0;
    nearly(kept(large) / kept(small), 10);
    const millis = (plan: typeof small, name: string) =>
      plan?.needs.find((need) => need.name === name)?.millisPerDocument;
    assert.equal(millis(large, 'redis-scrape'), millis(small, 'redis-scrape'));
    nearly((millis(large, 'chunking') ?? 0) / (millis(small, 'chunking') ?? 1), 10);
  });

  test('sizes are human-readable', () => {
    assert.deepEqual([0, 999, 44_117, 16.1e12].map(sizeText), [
      '0.0 B',
      '999.0 B',
      '44.1 kB',
      '16.1 TB',
    ]);
  });

  test('fetched bytes are kept in one place, by size', () => {
    const of = (plan: typeof small, what: string): number =>
      plan?.storage.find((row) => row.what.startsWith(what))?.bytesPerDocument ?? Number.NaN;
    assert.equal(of(small, 'blobs'), 0);
    assert.equal(of(large, 'blobs'), 10 * document.htmlBytes);
    assert.ok(of(large, 'blobs') > limits.document.rowBytesMax);
    const rows = 'Postgres, documents';
    nearly(of(large, rows), 10 * (of(small, rows) - document.storeBytes.fetched));
  });

  test('in the guide match the computed ones', () => {
    const page = readFileSync(join(root, 'docs/guide/scale.md'), 'utf8');
    assert.ok(page.includes(reportScale()), 'run `node bench/scale/run.ts --write`');
  });
});
