/** Repeated begin calls: by a retry, or by an attacker who recorded them. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { Scene, workerPid } from '../../support/handoff-scene.ts';

const gone = { status: 'gone' };
const named = (id: string) => ({ id, host: 'machine', pid: workerPid, process_started: '7' });

async function deathsOf(scene: Scene): Promise<unknown[]> {
  return scene.bench.store.rows('SELECT deaths, epoch FROM handoffs');
}

export const handoffReplayTests: readonly EngineTest[] = [
  [
    'a repeated begin gets the same epoch, and the worker completes normally',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne('w1');
      const before = await deathsOf(scene);
      for (let time = 0; time < 5; time++) {
        assert.deepEqual(await scene.callbacks.begin(jobId, handoff, named('w1')), begun);
      }
      assert.deepEqual(await deathsOf(scene), before);
      assert.deepEqual(await complete(), { status: 'chunking' });
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['a page']);
    },
  ],
  [
    'a repeated begin does not keep a silent worker alive',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      await bench.store.submit();
      const { jobId, handoff } = await scene.beginOne('w1');
      const { silentMsMax, beatMs, lookMs } = limits.handoff;
      for (let passed = 0; passed < silentMsMax + 2 * lookMs; passed += beatMs) {
        await bench.world.advance(beatMs);
        await scene.callbacks.begin(jobId, handoff, named('w1'));
      }
      assert.equal(scene.queue.waiting.size, 1);
    },
  ],
  [
    'a begin of a worker that has left is refused, and the next one gets the request',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun } = await scene.beginOne('w1');
      const { epoch } = begun;
      await scene.callbacks.beat(jobId, { handoff, epoch, isLeaving: true });
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, named('w1')), gone);
      const next = await scene.beginOne('w2');
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, named('w1')), gone);
      assert.deepEqual(await next.complete(), { status: 'chunking' });
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a refused begin is refused again when it is repeated',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      await bench.store.submit();
      const { jobId, handoff, begun } = await scene.beginOne('w1');
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, named('w2')), gone);
      const { epoch } = begun;
      await scene.callbacks.beat(jobId, { handoff, epoch, isLeaving: true });
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, named('w2')), gone);
      assert.equal((await scene.beginOne('w3')).begun.status, 'begun');
    },
  ],
];
