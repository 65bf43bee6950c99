/** Numbers that other systems and their operators rely on. Changing one breaks them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from './limits.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const promised: readonly [name: string, value: number, expected: number][] = [
  ['the heartbeat interval', limits.lease.heartbeatMs, 10 * second],
  ['the silence after which a lease is lost', limits.lease.ttlMs, 90 * second],
  ['the time after which an item counts as stuck', limits.loop.stageStuckMs, 30 * minute],
  ['the lifetime of an idempotency key', limits.job.idempotencyTtlMs, 24 * hour],
  ['the poll interval of batch tasks', limits.batch.pollIntervalMs, 120 * second],
  ['the age at which a batch task fails', limits.batch.taskAgeMsMax, 26 * hour],
  ['the poll errors that fail a batch job', limits.batch.pollErrorsMax, 3],
  ['the timeout of Membership', limits.membership.timeoutMs, 2 * second],
  ['the lifetime of a cached response of Membership', limits.membership.cacheTtlMs, 60 * second],
  ['the failures that open the circuit', limits.membership.circuitFailuresMax, 3],
  ['the time that the circuit stays open', limits.membership.circuitOpenMs, 30 * second],
];

describe('a number that others rely on', () => {
  for (const [name, value, expected] of promised) {
    test(`${name} is ${expected}`, () => assert.equal(value, expected));
  }
});
