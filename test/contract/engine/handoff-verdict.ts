/** How a request ends: a reported failure is recorded, and a result is validated first. */
import assert from 'node:assert/strict';
import { Callbacks, type Completion } from '../../../src/handoff/orchestrator/callbacks.ts';
import { retryPolicyFor } from '../../../src/kernel/backoff.ts';
import { listFingerprints } from '../../../src/store/item/inbox.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { Scene } from '../../support/handoff-scene.ts';

const stage = 'scraping';
const succeeded = { status: 'chunking' };
const late = { status: 'already_advanced' };

export const handoffVerdictTests: readonly EngineTest[] = [
  [
    'a failure reported by a worker is recorded unchanged, for every code',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      for (const code of ['connection_timeout', 'http_429', 'http_403']) {
        const job = await bench.store.submit();
        const { complete } = await scene.beginOne();
        const failure = { code, message: 'no' };
        assert.deepEqual(await complete({ failure }), { status: 'job_failed' });
        await bench.untilJob(job, 'failed');
        const item = await bench.store.item(job.ids[0]);
        assert.equal(JSON.parse(item.error ?? '{}').code, code);
      }
      assert.deepEqual([scene.queue.added.length, await scene.rows()], [3, 0]);
    },
  ],
  [
    'retries that a worker requests are counted and reported as in one process, up to the limit',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const failure = { code: 'http_5xx', message: 'down', retry: true } as const;
      const { triesMax } = retryPolicyFor(stage, 'http_5xx');
      for (let tryNumber = 1; tryNumber < triesMax; tryNumber++) {
        const { complete } = await scene.beginOne();
        assert.deepEqual(await complete({ failure }), { status: 'retry_scheduled' });
        await bench.world.until('the wait', async () => {
          const { waits_on, attempt: failed } = await bench.store.item(job.ids[0]);
          return waits_on === 'time' && failed === tryNumber;
        });
        assert.equal((await bench.store.job(job.key)).items_waiting, 1);
      }
      const { complete } = await scene.beginOne();
      assert.deepEqual(await complete({ failure }), { status: 'job_failed' });
      await bench.untilJob(job, 'failed');
      const told = (await bench.store.events()).filter(({ kind }) => kind === 'retry_scheduled');
      assert.deepEqual(
        told.map(({ attempt }) => attempt),
        Array.from({ length: triesMax - 1 }, (_, index) => index + 1),
      );
      const error = JSON.parse((await bench.store.item(job.ids[0])).error ?? '{}');
      assert.equal(error.context.attempt, triesMax);
    },
  ],
  [
    'a failure keeps its place and its worker, and is counted with others of its group',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit({ items: 2 });
      const context = { domain: 'example.org', status: 403, worker_id: 'scraper-7' };
      const failure = { code: 'http_403', message: 'no', context };
      const one = await scene.beginOne();
      assert.deepEqual(await one.complete({ failure }), { status: 'document_failed' });
      await bench.untilStory('item_failed fetched');
      const other = await scene.beginOne();
      assert.deepEqual(await other.complete({ failure }), { status: 'job_failed' });
      await bench.untilJob(job, 'failed');
      const { context: told } = JSON.parse((await bench.store.item(job.ids[0])).error ?? '{}');
      assert.deepEqual(
        { domain: told.domain, status: told.status, worker_id: told.worker_id },
        context,
      );
      const [group] = await listFingerprints(bench.store.database, { caller: 'ann', limit: 10 });
      assert.deepEqual([group?.domain, group?.count], ['example.org', 2]);
    },
  ],
  [
    'an invalid result is refused with what is missing, and the next one counts',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const { database } = bench.store;
      const callbacks = new Callbacks({ database, world: bench.world, broker: scene.broker });
      const sources = [{ kind: 'url', source: 'https://example.org/a' } as const];
      const job = await bench.store.submit({ sources });
      await bench.world.until('the request', () => scene.queue.waiting.size > 0);
      const told = (value: Completion['value']) => callbacks.complete(job.key, { stage, value });
      await assert.rejects(told({ title: 'no text' }), {
        code: 'bad_request',
        message: /^result\.markdown is missing/,
      });
      assert.equal((await bench.store.item(job.ids[0])).waits_on, 'worker');
      assert.deepEqual(await told({ markdown: '# A page' }), succeeded);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await told({ markdown: '# A page' }), late);
      const story = await bench.store.story();
      assert.ok(!story.some((line) => line.startsWith('step_failed')));
    },
  ],
];
