/** Requests to other processes while the store, this process or a lease is away. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { Scene } from '../../support/handoff-scene.ts';
import { makeLatch } from '../../support/test-world.ts';

const succeeded = { status: 'chunking' };
const { crashesMin, loneDeathsMax, uptimesMs } = limits.suspect;

export const handoffOutageTests: readonly EngineTest[] = [
  [
    'a request that kills one worker after the other fails its item, and not all items',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const job = await bench.store.submit();
      const left = await scene.beginOne();
      const { jobId, handoff, begun } = left;
      await scene.callbacks.beat(jobId, { handoff, epoch: begun.epoch, isLeaving: true });
      for (let pid = 600; pid < 600 + crashesMin; pid++) await scene.beginOne(`w${pid}`, pid);
      for (let death = 0; death < loneDeathsMax; death++) {
        const pid = 600 + crashesMin + death;
        // Not beside others; and not by a process that has just started, if it was alone before.
        const { jobId, handoff, begun } = await scene.begin(`w${pid}`, pid);
        assert.deepEqual(begun, { status: 'alone', uptimeMs: uptimesMs[death] });
        const name = { id: `w${pid}`, host: 'machine', pid, process_started: '7' };
        const alone = await scene.callbacks.begin(jobId, handoff, name, true);
        assert.equal(alone.status, 'begun');
      }
      await bench.untilJob(job, 'failed');
      const error = JSON.parse((await bench.store.item(job.ids[0])).error ?? '{}');
      assert.equal(error.code, 'crashed_repeatedly');
      assert.match(error.message, /^5 workers died on this request, .*: process 604 has ended$/);
      assert.deepEqual([await scene.rows(), scene.queue.waiting.size], [0, 0]);
      // A retry starts with a clean record.
      await engine.commands.retry(job.caller, job.key);
      await scene.beginOne('w700', 700);
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a request that workers died on is recognized after nobody has begun it for a while',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      for (let pid = 600; pid < 600 + crashesMin; pid++) await scene.beginOne(`w${pid}`, pid);
      const parked = 'retry_scheduled fetched';
      assert.equal((await scene.begin()).begun.status, 'alone');
      await bench.untilStory(parked);
      assert.equal((await scene.begin()).begun.status, 'alone');
      const { complete } = await scene.beginOne('w1', undefined, true);
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a waiting item is not blamed for the deaths of the processes that waited for it',
    async (bench) => {
      const scene = new Scene(bench);
      let engine = await scene.start();
      const deaths = crashesMin + loneDeathsMax;
      const job = await bench.store.submit({ items: 2 });
      const { complete } = await scene.beginOne();
      for (let pid = 1; pid <= deaths; pid++) {
        bench.abandon(engine);
        bench.store.livingPids.delete(pid);
        engine = await scene.start(pid + 1);
        await bench.world.advance(2 * limits.loop.rescueIntervalMs);
      }
      const lost = (await bench.store.events()).filter(({ kind }) => kind === 'lease_lost');
      assert.equal(lost.length, 2 * deaths);
      const { crashes, waits_on } = await bench.store.item(job.ids[0]);
      assert.deepEqual([crashes, waits_on], [0, 'worker']);
      assert.deepEqual(await complete(), succeeded);
      const other = await scene.beginOne();
      assert.deepEqual(await other.complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a worker that was given up may answer until another has begun',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne();
      await bench.world.advance(limits.handoff.silentMsMax + 2 * limits.handoff.lookMs);
      assert.equal(scene.queue.waiting.size, 1);
      const { epoch } = begun;
      assert.equal(await scene.callbacks.beat(jobId, { handoff, epoch }), true);
      assert.deepEqual(await complete(), succeeded);
      assert.equal((await scene.begin('w2')).begun.status, 'gone');
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a worker is not given up for a silence during an outage of the orchestrator or store',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne();
      const { silentMsMax, beatMs, lookMs } = limits.handoff;
      await bench.world.advance(beatMs);
      scene.isAway = true;
      await bench.world.advance(2 * silentMsMax);
      scene.isAway = false;
      // The worker's next heartbeat arrives.
      await bench.world.advance(beatMs);
      assert.equal(scene.queue.waiting.size, 0);
      const other = { id: 'w2', host: 'afar', pid: 1, process_started: '7' };
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, other), { status: 'gone' });
      assert.equal(await scene.callbacks.beat(jobId, { handoff, epoch: begun.epoch }), true);
      // From then on its silence counts.
      await bench.world.advance(silentMsMax - beatMs);
      assert.equal(scene.queue.waiting.size, 0);
      await bench.world.advance(beatMs + 2 * lookMs);
      assert.equal(scene.queue.waiting.size, 1);
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a process that was asleep waits for heartbeats before it gives up workers',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      await bench.store.submit();
      await scene.beginOne();
      await bench.world.advance(limits.handoff.beatMs);
      bench.world.skip(2 * limits.handoff.silentMsMax);
      await bench.world.advance(limits.handoff.beatMs);
      assert.equal(scene.queue.waiting.size, 0);
    },
  ],
  [
    'a short store outage loses no request, and the work is done once',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne('w1', 501);
      // The worker is dead, and the store refuses the write.
      scene.failWrites(3);
      await bench.world.until('the refusals', () => /handoff: /.test(String(bench.errors)));
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['a page']);
      assert.equal((await bench.store.item(job.ids[0])).attempt, 0);
    },
  ],
  [
    'a store outage at the moment of the request uses no try',
    async (bench) => {
      const scene = new Scene(bench);
      scene.failWrites(20);
      await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
      const story = await bench.store.story();
      assert.deepEqual([story.filter((line) => line.startsWith('step_failed'))], [[]]);
      assert.equal(bench.errors.filter((error) => error.startsWith('handoff')).length, 1);
    },
  ],
  [
    'an item canceled while its request is being written leaves no request',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const latch = makeLatch();
      scene.holdWrites(latch);
      const job = await bench.store.submit();
      await bench.world.until('the write', () => scene.writes === 1);
      await engine.commands.cancel(job.caller, job.key);
      // Long enough for the worker to notice the lost lease.
      await bench.world.advance(2 * limits.lease.heartbeatMs);
      latch.open();
      await bench.world.until('the second write', () => scene.writes === 2);
      await bench.world.settle();
      assert.equal(await scene.rows(), 0);
      assert.equal(scene.queue.waiting.size, 0);
      await bench.untilJob(job, 'canceled');
    },
  ],
  [
    'a process that stops while a request is being written returns its item',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const latch = makeLatch();
      scene.holdWrites(latch);
      const job = await bench.store.submit();
      await bench.world.until('the write', () => scene.writes === 1);
      const stopped = bench.stop(engine);
      await bench.world.advance(limits.loop.shutdownGraceMs);
      await stopped;
      assert.equal((await bench.store.item(job.ids[0])).waits_on, 'turn');
      latch.open();
      await bench.world.settle();
    },
  ],
];
