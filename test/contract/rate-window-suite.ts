/** What every rate window does, in memory or in Redis. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RateWindow, Taken } from '../../src/access/limit/window.ts';
import type { TestWorld } from '../support/test-world.ts';

export interface WindowBench {
  readonly world: TestWorld;
  /** An empty window. */
  open(): RateWindow;
  /** How many random histories are tried. */
  readonly runs: number;
}

const hour = 3_600_000;
const claim = { callerId: 'a', limit: 10, windowMs: hour, isSharing: true };

async function takeMany(window: RateWindow, count: number, changes: Partial<typeof claim> = {}) {
  const taken: Taken[] = [];
  for (let time = 0; time < count; time += 1)
    taken.push(await window.take({ ...claim, ...changes }));
  return taken;
}

const allowedOf = (taken: readonly Taken[]) => taken.filter(({ isAllowed }) => isAllowed).length;

type WindowTest = readonly [title: string, run: (bench: WindowBench) => Promise<void>];

export const windowTests: readonly WindowTest[] = [
  [
    'lets the limit through and refuses more',
    async ({ open }) => {
      const taken = await takeMany(open(), 12);
      assert.deepEqual(
        taken.map(({ isAllowed, count }) => [isAllowed, count]),
        [...Array.from({ length: 10 }, (_, n) => [true, n + 1]), [false, 10], [false, 10]],
      );
    },
  ],

  [
    'has no boundary at which twice the limit gets through, as a fixed window has',
    async ({ world, open }) => {
      const window = open();
      const fixed = new Map<number, number>();
      const takeFixed = (): boolean => {
        const slot = Math.floor(world.now() / hour);
        const count = (fixed.get(slot) ?? 0) + 1;
        fixed.set(slot, count);
        return count <= claim.limit;
      };
      world.skip(hour - (world.now() % hour) - 1_000);
      let [sliding, edged] = [0, 0];
      for (let time = 0; time < 2; time += 1) {
        sliding += allowedOf(await takeMany(window, claim.limit));
        edged += Array.from({ length: claim.limit }, takeFixed).filter(Boolean).length;
        world.skip(2_000);
      }
      assert.deepEqual({ sliding, edged }, { sliding: claim.limit, edged: 2 * claim.limit });
    },
  ],

  [
    'frees one slot when the oldest request leaves, and says when that is',
    async ({ world, open }) => {
      const window = open();
      await takeMany(window, 1);
      world.skip(60_000);
      await takeMany(window, 9);
      const [refused] = await takeMany(window, 1);
      assert.deepEqual(refused, { isAllowed: false, count: 10, freesInMs: hour - 60_000 });
      world.skip(hour - 60_000 - 1);
      assert.equal(allowedOf(await takeMany(window, 1)), 0);
      world.skip(1);
      assert.equal(allowedOf(await takeMany(window, 2)), 1);
    },
  ],

  [
    'says when there is room again after the limit was lowered',
    async ({ world, open }) => {
      const window = open();
      for (let minute = 0; minute < 10; minute += 1) {
        await takeMany(window, 1);
        world.skip(60_000);
      }
      const [refused] = await takeMany(window, 1, { limit: 4 });
      // The seventh of the ten must leave before there are fewer than four.
      assert.deepEqual(refused, { isAllowed: false, count: 10, freesInMs: hour - 4 * 60_000 });
    },
  ],

  [
    'does not count refused requests',
    async ({ world, open }) => {
      const window = open();
      await takeMany(window, 10);
      world.skip(hour - 1);
      await takeMany(window, 50);
      world.skip(1);
      assert.equal(allowedOf(await takeMany(window, 20)), 10);
    },
  ],

  [
    'counts each caller separately',
    async ({ open }) => {
      const window = open();
      await takeMany(window, 12);
      assert.equal(allowedOf(await takeMany(window, 12, { callerId: 'b' })), 10);
    },
  ],

  [
    'knows the active callers: those of the last hour, without services',
    async ({ world, open }) => {
      const window = open();
      assert.equal(window.activeCallers('a'), 1);
      for (const callerId of ['a', 'b', 'c']) await takeMany(window, 1, { callerId });
      await takeMany(window, 1, { callerId: 'service', isSharing: false });
      assert.equal(window.activeCallers('a'), 3);
      world.skip(hour / 2);
      await takeMany(window, 1);
      world.skip(hour / 2);
      await takeMany(window, 1);
      assert.equal(window.activeCallers('a'), 1);
    },
  ],

  [
    'lets exactly the limit through for concurrent requests',
    async ({ open }) => {
      const window = open();
      const taken = await Promise.all(Array.from({ length: 50 }, () => window.take(claim)));
      assert.equal(allowedOf(taken), 10);
    },
  ],

  [
    'matches a list of times that is searched each time',
    async ({ world, open, runs }) => {
      const step = fc.record({
        waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
        callerId: fc.constantFrom('a', 'b'),
        limit: fc.integer({ min: 1, max: 30 }),
      });
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 120 }),
        async (steps) => {
          const [window, model] = [open(), new Map<string, number[]>()];
          for (const { waitMs, ...step } of steps) {
            world.skip(waitMs);
            // A caller keeps its window: requests that left a shorter one cannot come back.
            const asked = { ...step, windowMs: step.callerId === 'a' ? 500 : 1_000 };
            const taken = await window.take({ ...asked, isSharing: true });
            assert.deepEqual(taken, takeFromList(model, world.now(), asked));
          }
        },
      );
      await fc.assert(property, { numRuns: runs });
    },
  ],
];

function takeFromList(
  model: Map<string, number[]>,
  now: number,
  { callerId, limit, windowMs }: { callerId: string; limit: number; windowMs: number },
): Taken {
  const times = (model.get(callerId) ?? []).filter((time) => time > now - windowMs);
  const isAllowed = times.length < limit;
  if (isAllowed) times.push(now);
  model.set(callerId, times);
  // The soonest moment at which fewer than the limit are left.
  const leaving = times.map((time) => time + windowMs);
  const freesAt =
    times.length < limit
      ? leaving[0]
      : leaving.find((at) => times.filter((time) => time > at - windowMs).length < limit);
  return { isAllowed, count: times.length, freesInMs: (freesAt ?? now) - now };
}
