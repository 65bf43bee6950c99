import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLatch, TestWorld } from '../../../test/support/test-world.ts';
import { item } from '../../kernel/lifecycle/item.ts';
import { postgresDialect } from '../../store/driver/dialect.ts';
import type { Lease, Report } from '../../store/item/reports.ts';
import { StoreLedger } from './store-ledger.ts';

const leaseOf = (itemId: number): Lease => {
  return { itemId, jobId: 1, worker: 'w', epoch: 1, rank: 1, gate: null };
};
const reportOf = (lease: Lease): Report => {
  return { lease, expect: 0, move: { to: 'turn' }, events: [] };
};

/** A ledger on a database that takes several commits at once, and holds each until released. */
function setup() {
  const world = new TestWorld();
  const commits: (() => void)[] = [];
  const ledger = new StoreLedger({
    world,
    lifecycle: item,
    ring: () => undefined,
    database: {
      dialect: postgresDialect,
      commitsMax: 4,
      now: () => world.now(),
      run: async () => [],
      get early() {
        return this;
      },
      flushed: async () => undefined,
      measureClock: async () => undefined,
      close: async () => undefined,
      write: async <T>() => {
        const latch = makeLatch();
        commits.push(() => latch.open());
        await latch.opened;
        return Array(10).fill('applied') as T;
      },
    },
  });
  const report = (...leases: Lease[]) =>
    Promise.all(leases.map((lease) => ledger.report(reportOf(lease))));
  return { world, commits, report };
}

test('reports of one turn are one commit, and none is empty', async () => {
  const { world, commits, report } = setup();
  const ended = report(leaseOf(1), leaseOf(2), leaseOf(3));
  await world.advance(0);
  assert.equal(commits.length, 1);
  commits[0]?.();
  assert.deepEqual(await ended, ['applied', 'applied', 'applied']);
  await world.advance(0);
  assert.equal(commits.length, 1);
});

test('later reports are committed beside, but not of a lease being committed', async () => {
  const { world, commits, report } = setup();
  const lease = leaseOf(1);
  const first = report(lease);
  await world.advance(0);
  const second = report(lease);
  await world.advance(0);
  assert.equal(commits.length, 1);
  const third = report(leaseOf(2));
  await world.advance(0);
  assert.equal(commits.length, 2);
  commits[0]?.();
  await first;
  await world.advance(0);
  assert.equal(commits.length, 3);
  for (const end of commits) end();
  await Promise.all([second, third]);
});
