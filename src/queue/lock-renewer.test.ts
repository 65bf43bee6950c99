import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TestWorld } from '../../test/support/test-world.ts';
import { limits } from '../kernel/limits/limits.ts';
import { LockRenewer } from './lock-renewer.ts';

/** A thread that runs this script. */
const scriptOf = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

function open(t: TestContext, script: URL) {
  const world = new TestWorld();
  const troubles: string[] = [];
  const renewer = new LockRenewer({
    world,
    script,
    url: 'redis://127.0.0.1:1',
    prefix: 'p',
    lockMs: 1000,
    renewMs: 100,
    onTrouble: ({ message }) => troubles.push(message),
  });
  t.after(() => renewer.end());
  return { world, renewer, troubles };
}

/** Lets the thread end and advances the clock to the next start. */
async function nextStart(world: TestWorld): Promise<void> {
  while (world.pendingTimers === 0) await new Promise(setImmediate);
  await world.advance(limits.queue.threadRetry.capMs);
}

test('a thread that cannot start is retried with delays, then given up', async (t) => {
  const { world, renewer, troubles } = open(t, scriptOf('throw new Error("no thread today")'));
  const { threadStartsMax, threadRetry } = limits.queue;
  const rejected = assert.rejects(renewer.started(), { code: 'machine_busy' });
  while (world.pendingTimers === 0) await new Promise(setImmediate);
  await world.advance(threadRetry.baseMs - 1);
  assert.equal(troubles.length, 1, 'not at once');
  for (let start = 1; start < threadStartsMax; start += 1) await nextStart(world);
  await rejected;
  assert.equal(troubles.length, threadStartsMax);
  assert.match(troubles[0] ?? '', /no thread today/);
});

test('a thread that ends is started again and keeps renewing its locks', async (t) => {
  const text = `import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ kind: 'started' });
    parentPort.on('message', ({ held }) => {
      parentPort.postMessage({ kind: 'trouble', message: held.id });
      setImmediate(() => process.exit());
    });`;
  const { world, renewer, troubles } = open(t, scriptOf(text));
  await renewer.started();
  renewer.hold({ id: 'a', token: 'b', forMs: 60_000 }, () => assert.fail('it was lost'));
  await nextStart(world);
  while (troubles.length < 2) await new Promise(setImmediate);
  assert.deepEqual(troubles.slice(0, 2), ['a', 'a']);
});
