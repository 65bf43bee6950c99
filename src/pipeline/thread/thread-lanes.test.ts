import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../app/world.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type LaneBounds, ThreadLanes } from './thread-lanes.ts';

const { signal } = new AbortController();

function setup(t: TestContext, bounds: Partial<LaneBounds> = {}) {
  const lanes = new ThreadLanes({
    program: new URL('./fixture/wild-thread.ts', import.meta.url),
    world: realWorld(),
    bounds: { ...limits.text, sliceCpuMs: 100, cpuMsMax: 60_000, cpuLookMs: 20, ...bounds },
  });
  t.after(() => lanes.close(new Failure('canceled', 'the test is over')));
  const tell = (deed: string, cpuMs?: number) =>
    lanes.run({ message: { deed, cpuMs }, signal, length: 0 });
  return { lanes, tell };
}

/** Whether a promise is still pending. */
async function isPending(task: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([task, Promise.resolve(pending)])) === pending;
}

describe('lanes of threads', () => {
  test('let ordinary tasks overtake any number of endless ones', async (t) => {
    const { tell } = setup(t);
    const endless = Array.from({ length: 6 }, () => tell('spin'));
    for (const task of endless) task.catch(() => undefined);
    assert.equal(await tell('ordinary'), 'ordinary');
    assert.equal(await tell('another', 10), 'another');
    for (const task of endless) assert.equal(await isPending(task), true);
  });

  test('end a task that exceeds its CPU time, for good', async (t) => {
    const { tell } = setup(t, { cpuMsMax: 1500 });
    const fails = () => assert.rejects(tell('spin'), { code: 'parse_timeout' });
    await Promise.all([fails(), fails(), fails()]);
    assert.equal(await tell('next'), 'next');
  });

  test('finish a slow task within its limits, even if it has to restart', async (t) => {
    const { tell } = setup(t, { slowThreadsMax: 1 });
    const deeds = ['a', 'b', 'c', 'd'];
    assert.deepEqual(await Promise.all(deeds.map((deed) => tell(deed, 300))), deeds);
  });

  test('count only the CPU time of the task itself', async (t) => {
    const { tell } = setup(t, { cpuMsMax: 2000, sliceCpuMs: 2000, threadsMax: 1 });
    // Starting a thread takes time too.
    await tell('begin');
    for (const deed of ['a', 'b', 'c', 'd']) assert.equal(await tell(deed, 800), deed);
  });

  test('report a defect in a thread to its task', async (t) => {
    const { tell } = setup(t, { threadsMax: 1 });
    await assert.rejects(tell('throw'), /as requested/);
    assert.equal(await tell('next'), 'next');
  });
});
