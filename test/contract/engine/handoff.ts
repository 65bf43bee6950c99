/** Steps that run in another process, and everything that can go wrong in between. */
import assert from 'node:assert/strict';
import { Callbacks, type Completion } from '../../../src/handoff/orchestrator/callbacks.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { asSent, requestOf, Scene, workerPid } from '../../support/handoff-scene.ts';

const stage = 'scraping';
const succeeded = { status: 'chunking' };
const late = { status: 'already_advanced' };

export const handoffTests: readonly EngineTest[] = [
  [
    'a step waits for its response, continues with it, and leaves no request behind',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { begun, complete } = await scene.beginOne();
      assert.deepEqual(begun.request, { source: 'note-1' });
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['a page']);
      assert.equal(await scene.rows(), 0);
    },
  ],
  [
    'of two callbacks the first counts, and the second is reported as a duplicate',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      assert.deepEqual(await complete({ value: { page: 'another' } }), late);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await complete(), late);
      assert.deepEqual(scene.used, ['a page']);
    },
  ],
  [
    'a message that is delivered twice finds the request taken',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      await bench.store.submit();
      const { jobId, handoff, complete } = await scene.beginOne();
      const other = { id: 'w2', host: 'machine', pid: workerPid, process_started: '7' };
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, other), { status: 'gone' });
      assert.deepEqual(await complete(), succeeded);
      assert.deepEqual(await scene.callbacks.begin(jobId, handoff, other), { status: 'gone' });
    },
  ],
  [
    'a dead worker is replaced, and its late callback is refused',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const dead = await scene.beginOne('w1', 501);
      const next = await scene.beginOne('w2');
      assert.deepEqual(await dead.complete({ value: { page: 'late' } }), late);
      const beat = { handoff: dead.handoff, epoch: dead.begun.epoch };
      assert.equal(await scene.callbacks.beat(dead.jobId, beat), false);
      assert.deepEqual(await next.complete({ value: { page: 'new' } }), succeeded);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['new']);
    },
  ],
  [
    'a remote worker is given up after its silence, and not while it sends heartbeats',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      await bench.store.submit();
      const { jobId, handoff, begun } = await scene.beginOne();
      const { silentMsMax, beatMs } = limits.handoff;
      for (let passed = 0; passed < 2 * silentMsMax; passed += beatMs) {
        await bench.world.advance(beatMs);
        const { epoch } = begun;
        assert.equal(await scene.callbacks.beat(jobId, { handoff, epoch }), true);
      }
      assert.equal(scene.queue.waiting.size, 0);
      await bench.world.advance(silentMsMax + 2 * limits.handoff.lookMs);
      assert.equal(scene.queue.waiting.size, 1);
    },
  ],
  [
    'a worker that leaves returns its request immediately',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne();
      const { epoch } = begun;
      assert.equal(await scene.callbacks.beat(jobId, { handoff, epoch, isLeaving: true }), true);
      const next = await scene.beginOne('w2');
      assert.deepEqual(await complete(), late);
      assert.deepEqual(await next.complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a response that came while no process held the item is used by the next holder',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      bench.abandon(engine);
      bench.store.livingPids.delete(1);
      await scene.broker.stop();
      // Another process than the sender receives the callback.
      const { database } = bench.store;
      const elsewhere = new Callbacks({ database, world: bench.world, read: asSent });
      const { handoff, jobId, begun } = { ...(await requestOf(scene)) };
      const answer = { stage, handoff, epoch: begun, value: { page: 'kept' } } as const;
      assert.deepEqual(await elsewhere.complete(jobId, answer), succeeded);
      assert.deepEqual(await complete(), late);
      await scene.start(2);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['kept']);
      assert.equal(scene.queue.added.length, 1);
    },
  ],
  [
    'a response received by another process reaches the step that waits here',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      await scene.beginOne();
      const { handoff, jobId, begun: epoch } = await requestOf(scene);
      const elsewhere = new Callbacks({
        ...{ database: bench.store.database, world: bench.world, read: asSent },
      });
      const value = { page: 'from afar' };
      assert.deepEqual(
        await elsewhere.complete(jobId, { stage, handoff, epoch, value }),
        succeeded,
      );
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(scene.used, ['from afar']);
    },
  ],
  [
    'a lost message is sent again, and an unavailable queue gets it when it is back',
    async (bench) => {
      const scene = new Scene(bench);
      scene.queue.isAway = true;
      await scene.start();
      const job = await bench.store.submit();
      await bench.world.advance(3 * limits.handoff.requeueMs);
      assert.match(String(bench.errors), /Error: the queue is away/);
      scene.queue.isAway = false;
      await bench.world.until('the message', () => scene.queue.waiting.size > 0);
      scene.queue.waiting.clear();
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'without a worker, the item gives its slot to others, and continues when one starts',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      await bench.world.until('the request', () => scene.queue.waiting.size > 0);
      await bench.world.advance(limits.handoff.unbegunMsMax + limits.handoff.requeueMs);
      const item = await bench.store.item(job.ids[0]);
      assert.equal(item.waits_on, 'time');
      assert.deepEqual([scene.queue.waiting.size, await scene.rows()], [0, 0]);
      for (let turn = 0; turn < 4; turn++) await bench.world.advance(limits.handoff.unbegunMsMax);
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
      const done = await bench.store.item(job.ids[0]);
      assert.deepEqual([done.attempt, done.crashes], [0, 0]);
    },
  ],
  [
    'a final failure of a worker is not retried here',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      const failure = { code: 'http_5xx', message: 'the site is failing', tries: 4 };
      assert.deepEqual(await complete({ failure }), { status: 'job_failed' });
      await bench.untilJob(job, 'failed');
      const item = await bench.store.item(job.ids[0]);
      assert.equal(JSON.parse(item.error ?? '{}').code, 'http_5xx');
      assert.deepEqual([scene.queue.added.length, await scene.rows()], [1, 0]);
    },
  ],
  [
    'a rate limit of a worker is waited for, and uses no retry',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const first = await scene.beginOne();
      const failure = { code: 'http_429', message: 'later', retry_after_ms: 90_000 };
      assert.deepEqual(await first.complete({ failure }), { status: 'retry_scheduled' });
      await bench.untilStory('retry_scheduled fetched');
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.waits_on, item.attempt], ['time', 0]);
      const again = await scene.beginOne();
      assert.deepEqual(await again.complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'an unknown code fails the item permanently, and its name is kept',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      await complete({ failure: { code: 'gremlins', message: 'in the works' } });
      await bench.untilJob(job, 'failed');
      const item = await bench.store.item(job.ids[0]);
      const error = JSON.parse(item.error ?? '{}');
      assert.deepEqual(
        [error.code, error.message],
        ['max_retries_exceeded', 'gremlins: in the works'],
      );
    },
  ],
  [
    'a canceled item removes its request, and a callback is too late',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const job = await bench.store.submit();
      const { complete } = await scene.beginOne();
      await engine.commands.cancel(job.caller, job.key);
      await bench.world.until('no request', async () => (await scene.rows()) === 0);
      assert.deepEqual(await complete(), late);
      await bench.untilJob(job, 'canceled');
      assert.deepEqual(scene.used, []);
    },
  ],
  [
    'a paused job withdraws unbegun requests, and finds begun ones',
    async (bench) => {
      const scene = new Scene(bench);
      const engine = await scene.start();
      const job = await bench.store.submit({ items: 2 });
      await bench.world.until('two requests', () => scene.queue.waiting.size === 2);
      const { complete } = await scene.beginOne();
      await engine.commands.pause(job.caller, job.key);
      await bench.world.until('one request', async () => (await scene.rows()) === 1);
      assert.equal(scene.queue.waiting.size, 0);
      assert.deepEqual(await complete(), succeeded);
      await engine.commands.resume(job.caller, job.key);
      const other = await scene.beginOne();
      assert.deepEqual(await other.complete(), succeeded);
      await bench.untilJob(job, 'succeeded');
      assert.equal(scene.queue.added.length, 3);
    },
  ],
  [
    'a callback must name its own job, stage, item and epoch',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne();
      const foreign = await bench.store.submit();
      const { epoch } = begun;
      const wrong: readonly [string, Completion][] = [
        [foreign.key, { stage, handoff, epoch }],
        [jobId, { stage: 'embedding', handoff, epoch }],
        [jobId, { stage, handoff, epoch: epoch + 1 }],
        [jobId, { stage, handoff, epoch, itemId: 77 }],
        [jobId, { stage, handoff: 'another', epoch }],
      ];
      for (const [key, completion] of wrong) {
        assert.deepEqual(await scene.callbacks.complete(key, completion), late);
      }
      await assert.rejects(scene.callbacks.complete('nobody', { stage, handoff, epoch }), {
        code: 'job_unknown',
      });
      assert.deepEqual(await complete(), succeeded);
      await bench.world.until('the end', async () => {
        return (await bench.store.job(job.key)).state === 'succeeded';
      });
    },
  ],
  [
    'a callback without a handoff means the only open request of its stage',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit({ items: 2 });
      await bench.world.until('two requests', () => scene.queue.waiting.size === 2);
      const only = (value: string) => ({ stage, value: { page: value } }) as const;
      await assert.rejects(scene.callbacks.complete(job.key, only('which?')), {
        code: 'bad_request',
      });
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete(), succeeded);
      assert.deepEqual(await scene.callbacks.complete(job.key, only('the other')), succeeded);
      assert.deepEqual(await scene.callbacks.complete(job.key, only('none')), late);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(new Set(scene.used), new Set(['a page', 'the other']));
    },
  ],
];
