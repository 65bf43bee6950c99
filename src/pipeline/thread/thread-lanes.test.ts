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

/** What a promise came to by now. */
async function isPending(task: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([task, Promise.resolve(pending)])) === pending;
}

describe('lanes of threads', () => {
  test('let ordinary tasks pass any number of endless ones', async (t) => {
    const { tell } = setup(t);
    const endless = Array.from({ length: 6 }, () => tell('spin'));
    for (const task of endless) task.catch(() => undefined);
    assert.equal(await tell('ordinary'), 'ordinary');
    assert.equal(await tell('another', 10), 'another');
    for (const task of endless) assert.equal(await isPending(task), true);
  });

  test('end what uses more CPU time than it may, for good', async (t) => {
    const { tell } = setup(t, { cpuMsMax: 1500 });
    const fails = () => assert.rejects(tell('spin'), { code: 'parse_timeout' });
    await Promise.all([fails(), fails(), fails()]);
    assert.equal(await tell('next'), 'next');
  });

  test('finish what is slow but within its bounds, even if it has to begin again', async (t) => {
    const { tell } = setup(t, { slowThreadsMax: 1 });
    const deeds = ['a', 'b', 'c', 'd'];
    assert.deepEqual(await Promise.all(deeds.map((deed) => tell(deed, 300))), deeds);
  });

  test('count only what the task itself has used', async (t) => {
    const { tell } = setup(t, { cpuMsMax: 2000, sliceCpuMs: 2000, threadsMax: 1 });
    // To begin a thread takes time, too.
    await tell('begin');
    for (const deed of ['a', 'b', 'c', 'd']) assert.equal(await tell(deed, 800), deed);
  });

  test('give a defect in a thread to the task that met it', async (t) => {
    const { tell } = setup(t, { threadsMax: 1 });
    await assert.rejects(tell('throw'), /as it was told/);
    assert.equal(await tell('next'), 'next');
  });
});
