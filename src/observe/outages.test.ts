import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestWorld } from '../../test/support/test-world.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { Outages, type Probes } from './outages.ts';

const { quietMs, lookMs, remindMs } = limits.outage;

function setup(probes: Probes = {}) {
  const world = new TestWorld();
  const said: string[] = [];
  const outages = new Outages({
    world,
    probes,
    onError: (what, error) => said.push(`${what}: ${(error as Error).message}`),
    onOutage: (message) => said.push(message),
  });
  const fail = (what = 'rescuer'): void =>
    outages.failed(what, new Failure('store_busy', 'Postgres did not answer'));
  return { world, outages, said, fail };
}

test('an outage is reported when it begins and ends, regardless of other failures', async () => {
  const { world, said, fail } = setup();
  fail();
  for (let turn = 0; turn < 60; turn++) {
    await world.advance(1000);
    for (const what of ['rescuer', 'leases', 'relay']) fail(what);
  }
  assert.deepEqual(said, ['rescuer: Postgres did not answer']);
  await world.advance(quietMs + lookMs);
  assert.deepEqual(said.slice(1), ['store_busy ended after 60 s and 181 failures; work continues']);
  assert.equal(world.pendingTimers, 0);
  fail();
  assert.equal(said.length, 3);
});

test('a long outage is reported again at intervals', async () => {
  const { world, said, fail, outages } = setup();
  for (let ms = 0; ms <= 2 * remindMs; ms += 1000) {
    fail();
    await world.advance(1000);
  }
  assert.deepEqual(
    said.map((line) => /(\d+) minutes/.exec(line)?.[1]),
    [undefined, '5', '10'],
  );
  outages.close();
  assert.equal(world.pendingTimers, 0);
});

test('silence is not the end of an outage while the service does not answer', async () => {
  const failure = new Failure('store_busy', 'still away');
  let isAway = true;
  const probe = async (): Promise<void> => {
    if (isAway) throw failure;
  };
  const { world, said, fail } = setup({ store_busy: probe });
  fail();
  await world.advance(3 * quietMs);
  assert.equal(said.length, 1);
  isAway = false;
  await world.advance(2 * quietMs);
  assert.match(said[1] ?? '', /^store_busy ended after \d+ s and \d failures/);
});

test('other failures are reported every time, and one outage does not hide another', () => {
  const { outages, said, fail } = setup();
  fail();
  const broken = new Failure('internal_error', 'a fault');
  for (let time = 0; time < 3; time++) outages.failed('sweep', broken);
  outages.failed('heartbeat', new Failure('storage_full', 'the disk is full'));
  outages.close();
  assert.deepEqual(said.slice(1, 4), Array(3).fill('sweep: a fault'));
  assert.deepEqual(said.slice(4), ['heartbeat: the disk is full']);
});
