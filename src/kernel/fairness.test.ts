import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignRanks } from './fairness.ts';
import { limits } from './limits/limits.ts';

/** A queue as the store keeps it: in order of rank, ties by arrival. */
function setup() {
  const waiting: { rank: number; arrival: number; caller: string }[] = [];
  const finishes = new Map<string, number>();
  let virtualTime = 0;
  let arrival = 0;
  return {
    enqueue(caller: string, count: number, priority = 0): void {
      const finish = finishes.get(caller) ?? 0;
      const range = assignRanks({ virtualTime, finish, count, priority });
      finishes.set(caller, range.finish);
      for (let index = 0; index < count; index += 1) {
        waiting.push({ rank: range.firstRank + index, arrival, caller });
        arrival += 1;
      }
      waiting.sort((a, b) => b.rank - a.rank || b.arrival - a.arrival);
    },
    claim(): string | undefined {
      const next = waiting.pop();
      // Ranks with a head start lie in the past and must not move virtual time back.
      if (next !== undefined) virtualTime = Math.max(virtualTime, next.rank);
      return next?.caller;
    },
    claimMany(count: number): string[] {
      return Array.from({ length: count }, () => this.claim() ?? 'nobody');
    },
  };
}

const countOf = (claims: readonly string[], caller: string): number =>
  claims.filter((name) => name === caller).length;

const assertAbout = (expected: number, count: number): void =>
  assert.ok(Math.abs(count - expected) <= 1, `${count}`);

test('two callers with a backlog are served in turn', () => {
  const queue = setup();
  queue.enqueue('first', 4);
  queue.enqueue('second', 4);
  assert.equal(queue.claimMany(8).join(' '), 'first second first second first second first second');
});

test('a late small caller is served at once despite a backlog of 100,000', () => {
  const queue = setup();
  queue.enqueue('large', 100_000);
  queue.claimMany(500);
  queue.enqueue('small', 3);
  const claims = queue.claimMany(8);
  assert.equal(countOf(claims, 'small'), 3, claims.join(' '));
});

test('among equal backlogs no caller is ever more than one item ahead of another', () => {
  const queue = setup();
  const callers = ['a', 'b', 'c', 'd', 'e'];
  for (const caller of callers) queue.enqueue(caller, 200);
  const served = new Map(callers.map((caller) => [caller, 0]));
  for (let index = 0; index < 1000; index += 1) {
    const caller = queue.claim() ?? 'nobody';
    served.set(caller, (served.get(caller) ?? 0) + 1);
    const counts = [...served.values()];
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `after ${index} claims`);
  }
});

test('many small jobs get no more than one large job', () => {
  const queue = setup();
  for (let index = 0; index < 100; index += 1) queue.enqueue('many', 1);
  queue.enqueue('one', 100);
  const claims = queue.claimMany(100);
  assert.equal(countOf(claims, 'many'), 50);
});

test('an idle caller does not catch up on unused turns', () => {
  const queue = setup();
  queue.enqueue('resting', 1);
  queue.enqueue('busy', 1000);
  queue.claimMany(501);
  queue.enqueue('resting', 100);
  const claims = queue.claimMany(100);
  assertAbout(50, countOf(claims, 'resting'));
});

test('a priority goes first, but by no more than its head start', () => {
  const bound = limits.fairness.priorityMax * limits.fairness.headStart;
  const queue = setup();
  queue.enqueue('patient', 20_000);
  queue.enqueue('urgent', 100_000, limits.fairness.priorityMax);
  const first = queue.claimMany(bound);
  assert.equal(countOf(first, 'urgent'), bound);
  const then = queue.claimMany(1000);
  assertAbout(500, countOf(then, 'patient'));
});

test('an urgent claim does not move virtual time back for later callers', () => {
  const queue = setup();
  queue.enqueue('busy', 1000);
  queue.claimMany(500);
  queue.enqueue('urgent', 1, limits.fairness.priorityMax);
  assert.equal(queue.claim(), 'urgent');
  queue.enqueue('newcomer', 100);
  const claims = queue.claimMany(100);
  assertAbout(50, countOf(claims, 'newcomer'));
});

test('urgent items submitted one at a time cannot starve anyone either', () => {
  const bound = limits.fairness.priorityMax * limits.fairness.headStart;
  const queue = setup();
  queue.enqueue('patient', 2000);
  let served = 0;
  for (let index = 0; index < bound + 2000; index += 1) {
    queue.enqueue('urgent', 1, limits.fairness.priorityMax);
    if (queue.claim() === 'patient') served += 1;
  }
  assert.ok(served >= 999, `${served} patient items were served`);
});

test('ranks and finishes are whole numbers, and a finish never decreases', () => {
  const { priorityMin, priorityMax } = limits.fairness;
  for (const virtualTime of [0, 1, 5_000, 10 ** 12]) {
    for (const finish of [0, 1, 7_000, 10 ** 12 + 1]) {
      for (const count of [0, 1, 512, limits.job.itemsMax]) {
        for (let priority = priorityMin; priority <= priorityMax; priority += 1) {
          const range = assignRanks({ virtualTime, finish, count, priority });
          const start = Math.max(virtualTime, finish);
          assert.ok(Number.isSafeInteger(range.firstRank));
          assert.equal(range.finish, start + count);
          assert.equal(start - range.firstRank, priority * limits.fairness.headStart);
        }
      }
    }
  }
});

test('a priority out of range, or a fraction of an item, is refused', () => {
  const request = { virtualTime: 0, finish: 0, count: 1, priority: 0 };
  assert.throws(() => assignRanks({ ...request, priority: 10 }));
  assert.throws(() => assignRanks({ ...request, priority: -1 }));
  assert.throws(() => assignRanks({ ...request, count: 1.5 }));
  assert.throws(() => assignRanks({ ...request, virtualTime: Number.NaN }));
});
