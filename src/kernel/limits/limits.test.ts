import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPolicy } from '../backoff.ts';
import { limits } from './limits.ts';

const day = 24 * 60 * 60 * 1000;

function numbersOf(value: object, path: string): [string, number][] {
  return Object.entries(value).flatMap(([name, inner]): [string, number][] => {
    if (typeof inner === 'number') return [[`${path}.${name}`, inner]];
    return inner instanceof RegExp || typeof inner === 'string'
      ? []
      : numbersOf(inner, `${path}.${name}`);
  });
}

test('every limit is a finite number and none is negative', () => {
  for (const [path, value] of numbersOf(limits, 'limits')) {
    assert.ok(Number.isFinite(value) && value >= 0, path);
    assert.ok(Number.isInteger(value) || path.endsWith('Factor'), `${path} is not whole`);
  }
});

test('a default never exceeds its maximum, and no minimum its maximum', () => {
  const known = new Map(numbersOf(limits, 'limits'));
  for (const [path, value] of known) {
    const maximum = known.get(path.replace(/(Default|Min)$/, 'Max'));
    if (maximum !== undefined) assert.ok(value <= maximum, path);
  }
});

test('a lease survives several lost heartbeats, and its loss is seen quickly', () => {
  assert.ok(limits.lease.ttlMs >= 3 * limits.lease.heartbeatMs);
  assert.ok(limits.loop.rescueIntervalMs < limits.lease.heartbeatMs);
});

test('a worker can hold what it claims, and commit what it holds', () => {
  assert.ok(limits.lease.itemsInFlightMax <= limits.lease.claimBatchMax);
  assert.ok(limits.lease.itemsInFlightMax <= limits.lease.commitBatchMax);
});

test('a step ends before its stage counts as stuck, and inline steps end soonest', () => {
  for (const stage of ['scraping', 'chunking', 'embedding'] as const) {
    assert.ok(limits.step.syncMs[stage] < limits.step.workerMs[stage], stage);
    assert.ok(limits.step.workerMs[stage] < limits.loop.stageStuckMs, stage);
  }
  assert.ok(limits.step.extractMs < limits.loop.stageStuckMs);
  assert.ok(limits.parser.startMs + limits.parser.slowDocumentMs < limits.step.extractMs);
  assert.ok(limits.parser.documentMs <= limits.parser.slowDocumentMs);
  assert.ok(limits.fetch.connectMs < limits.step.syncMs.scraping);
});

test('a connection outlives the longest wait for a response', () => {
  const longestMs = Math.max(...Object.values(limits.step.syncMs));
  assert.ok(limits.request.idleMs >= longestMs + 10_000);
});

test('a connection stays open longer than reverse proxies keep it for their next request', () => {
  const kept = { nginx: 60, aws: 60, traefik: 90, go: 90, caddy: 120 };
  // A proxy may send its request at the last moment, and the request takes time to arrive.
  const wayMs = 5_000;
  for (const [proxy, seconds] of Object.entries(kept)) {
    assert.ok(limits.request.keepAliveMs >= seconds * 1000 + wayMs, proxy);
  }
});

test('a parser may use its heap, and an idle one keeps less than the kill threshold', () => {
  const { heapMib, memoryBytesMax, restingMemoryBytesMax, reservedBytesMax } = limits.parser;
  assert.ok(heapMib * 1024 * 1024 < memoryBytesMax);
  assert.ok(restingMemoryBytesMax < memoryBytesMax);
  assert.ok(memoryBytesMax < reservedBytesMax);
});

test('a wait for a retry is shorter than the time after which its stage counts as stuck', () => {
  assert.ok(defaultPolicy.capMs < limits.loop.stageStuckMs);
});

test('shutdown ends before the leases it holds run out', () => {
  assert.ok(limits.loop.shutdownGraceMs < limits.lease.ttlMs);
});

test('a batch task is polled many times before it is too old, and outlives a day', () => {
  assert.ok(limits.batch.taskAgeMsMax > day);
  assert.ok(limits.batch.taskAgeMsMax >= 100 * limits.batch.pollIntervalMs);
  assert.ok(limits.batch.taskAgeMsMax < limits.job.wallClockMs);
});

test('the queue accepts several of the largest jobs', () => {
  assert.ok(limits.rate.queueDepthMax >= 2 * limits.job.itemsMax);
  assert.ok(limits.job.crawlPagesMax <= limits.job.itemsMax);
});

test('inline text fits in a request even if every character is escaped', () => {
  assert.ok(limits.request.bodyBytesMax >= 2 * limits.job.inlineTextBytesMax);
  assert.ok(limits.job.inlineTextBytesMax <= limits.document.sourceBytesMax);
  assert.ok(limits.document.sourceBytesMax <= limits.request.uploadBytesMax);
});

test('a response of a service fits in a callback with its bytes and with its text', () => {
  const { bodyBytesMax, bytesMax } = limits.handoff;
  assert.ok(bodyBytesMax > (4 / 3) * bytesMax + 2 * limits.parser.textBytesMax);
});

test('chunks overlap by less than half, so that they advance', () => {
  assert.ok(2 * limits.document.chunkOverlapTokens < limits.document.chunkTokensMax);
});

test('the whole range of priorities is a head start smaller than the largest job', () => {
  const { headStart, priorityMin, priorityMax } = limits.fairness;
  assert.equal(priorityMin, 0);
  assert.ok(priorityMax * headStart < limits.job.itemsMax);
});

test('history outlives the jobs and the keys that refer to it', () => {
  assert.ok(limits.event.retentionDays * day > limits.job.wallClockMs);
  assert.ok(limits.job.wallClockMs > limits.job.idempotencyTtlMs);
});

test('a guarded domain is visited more slowly than any other', () => {
  assert.ok(limits.fetch.guardedDomainIntervalMs > limits.fetch.domainIntervalMs);
  assert.ok(limits.fetch.guardedDomainConcurrencyMax <= limits.fetch.domainConcurrencyMax);
});

test('corpus names are lower case, start with a letter or digit and have a maximum length', () => {
  const { namePattern, nameCharactersMax } = limits.corpus;
  for (const name of ['a', '0', 'my-corpus', 'v1.2_x', 'a'.repeat(nameCharactersMax)]) {
    assert.match(name, namePattern);
  }
  const refused = [
    '',
    '-a',
    '.a',
    '_a',
    'A',
    'a b',
    'a/b',
    'é',
    'a\n',
    'a'.repeat(nameCharactersMax + 1),
  ];
  for (const name of refused) assert.doesNotMatch(name, namePattern);
});

test('a dead consumer loses its message long before a slow one, which is aborted first', () => {
  const { softMs, visibilityMs, lockMs, renewMs, stalledMs } = limits.queue;
  assert.ok(3 * renewMs <= lockMs, 'two renewals may fail');
  assert.ok(lockMs + 2 * stalledMs <= 35_000, 'the dead are found');
  assert.ok(softMs + lockMs + renewMs < visibilityMs, 'the signal comes before the loss');
  assert.equal(softMs, 3_500_000);
  assert.equal(visibilityMs, 3_600_000);
});

test('a suspect can run alone for as long as any step; each of its deaths has an uptime', () => {
  const { aloneMsMax, uptimesMs, loneDeathsMax, drainMsMax } = limits.suspect;
  const steps = [limits.step.extractMs, limits.handoff.softMs, limits.step.workerMs.embedding];
  for (const stepMs of steps) assert.ok(stepMs <= aloneMsMax && stepMs <= drainMsMax);
  assert.equal(uptimesMs.length, loneDeathsMax);
  assert.deepEqual(
    uptimesMs,
    [...uptimesMs].sort((a, b) => a - b),
  );
});

test('a call to a batch provider ends before the lock on its task does', () => {
  const { holdMs, holdReserveFactor, holdRenewalsPerHold, callMs } = limits.batch;
  assert.ok(holdReserveFactor * holdMs >= 2 * callMs);
  assert.ok(holdRenewalsPerHold >= 3);
  assert.ok((1 - 1 / holdRenewalsPerHold) * holdMs >= holdReserveFactor * holdMs);
});

test('a process announces itself several times before it counts as gone', () => {
  assert.ok(limits.batch.presenceMsMax >= 3 * limits.batch.presenceMs);
});
