import assert from 'node:assert/strict';
import { stagePolicies } from '../../../src/kernel/backoff.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { failing } from './step.ts';

async function errorOf(bench: EngineFixture, id: number | undefined) {
  const { error, step } = await bench.store.item(id);
  assert.equal(step, 'failed');
  return JSON.parse(error ?? '');
}

/** The length of each wait for another try. */
async function waits(bench: EngineFixture): Promise<number[]> {
  const events = await bench.store.events();
  const scheduled = events.filter(({ kind }) => kind === 'retry_scheduled');
  return scheduled.map(({ at, detail }) => Number(detail?.due_at) - at);
}

const never: StepFunction = () => new Promise(() => undefined);

export const outcomeTests: readonly EngineTest[] = [
  [
    'rate_limited waits as long as requested, and uses no retry, however often',
    async (bench) => {
      const limited = () => new Failure('http_429', 'slow down', { retryAfterMs: 3000 });
      await bench.start({ fetched: failing(10, limited) });
      const job = await bench.store.submit();
      await bench.untilStory('retry_scheduled fetched');
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.waits_on, item.attempt], ['time', 0]);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await waits(bench), Array(10).fill(3000));
      assert.equal(bench.runs.filter((step) => step === 'fetched').length, 11);
    },
  ],
  [
    'an outage is retried until it ends, and uses no retry',
    async (bench) => {
      const away = () => new Failure('qdrant_unavailable', 'Qdrant cannot be reached');
      await bench.start({ persisted: failing(40, away) });
      const job = await bench.store.submit();
      await bench.untilStory('retry_scheduled persisted');
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.waits_on, item.attempt], ['time', 0]);
      const told = (await bench.store.events()).find(({ kind }) => kind === 'retry_scheduled');
      assert.match(
        String(told?.detail?.reason),
        /^qdrant_unavailable: checked again in .* s until/,
      );
      await bench.untilJob(job, 'succeeded');
      const { outageMsMin, outageMsMax } = limits.wait;
      assert.deepEqual(await waits(bench), Array(40).fill((outageMsMin + outageMsMax) / 2));
    },
  ],
  [
    'a document replaced during a step starts again, a bounded number of times',
    async (bench) => {
      const effect = () => Promise.reject(new Failure('replaced_meanwhile', 'it was replaced'));
      await bench.start({ persisted: async () => ({ effect }) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      assert.equal((await errorOf(bench, job.ids[0])).code, 'replaced_meanwhile');
      assert.equal((await waits(bench)).length, stagePolicies.embedding.triesMax - 1);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'transient is tried as often as its stage allows, then failed under its own code',
    async (bench) => {
      const fetched = failing(99, () => new Failure('http_5xx', 'the site answers 500'));
      await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      assert.equal(bench.runs.length, stagePolicies.scraping.triesMax);
      const error = await errorOf(bench, job.ids[0]);
      assert.deepEqual(
        [error.code, error.error_code, error.kind, error.stage, error.step, error.context.attempt],
        ['http_5xx', 'E_5XX_ORIGIN', 'transient', 'scraping', 'fetched', 4],
      );
      assert.equal((await bench.store.job(job.key)).failed_stage, 'scraping');
    },
  ],
  [
    'each retry waits longer than the one before, by the rules of backoff',
    async (bench) => {
      const fetched = failing(3, () => new Failure('http_5xx', 'down'));
      await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await waits(bench), [3000, 12_000, 48_000]);
    },
  ],
  [
    'a later step has the retries of its own stage, regardless of earlier ones',
    async (bench) => {
      const busy = () => new Failure('gpu_oom', 'no memory');
      await bench.start({ fetched: failing(3, busy), indexed: failing(99, busy) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      const tries = bench.runs.filter((step) => step === 'indexed').length;
      assert.equal(tries, stagePolicies.embedding.triesMax);
    },
  ],
  ...(['step_output_invalid', 'http_404'] as const).map(
    (code): EngineTest => [
      `${code} fails immediately`,
      async (bench) => {
        await bench.start({ embedded: failing(1, () => new Failure(code, 'no')) });
        const job = await bench.store.submit();
        await bench.untilJob(job, 'failed');
        assert.equal((await errorOf(bench, job.ids[0])).code, code);
        assert.equal(bench.runs.filter((step) => step === 'embedded').length, 1);
      },
    ],
  ),
  [
    'an unexpected error is an internal error, and fails immediately',
    async (bench) => {
      await bench.start({ fetched: failing(1, () => new TypeError('x is not a function')) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      const error = await errorOf(bench, job.ids[0]);
      assert.deepEqual([error.code, error.message], ['internal_error', 'x is not a function']);
    },
  ],
  [
    'a step that throws synchronously fails like any other, and leaves no timer',
    async (bench) => {
      const fetched: StepFunction = () => {
        throw new Failure('http_404', 'gone');
      };
      const engine = await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      await bench.stop(engine);
      assert.equal(bench.world.pendingTimers, 0);
    },
  ],
  [
    'a step whose writes the store refuses ends in the inbox, and does not run forever',
    async (bench) => {
      const fetched: StepFunction = async () => ({
        effect: async (transaction) => {
          await transaction.run({ text: 'INSERT INTO corpora (name) VALUES (NULL)' });
          return undefined;
        },
      });
      await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.world.advance(30_000);
      assert.equal((await bench.store.item(job.ids[0])).step, 'failed');
    },
  ],
  [
    'a refused write of one step does not block the commits of others',
    async (bench) => {
      const fetched: StepFunction = async ({ item }) => ({
        effect: async () => {
          if (item.source === 'bad') throw new Failure('http_404', 'spoiled');
          return undefined;
        },
      });
      await bench.start({ fetched });
      await bench.store.submit({ sources: [{ kind: 'inline', source: 'bad' }] });
      const job = await bench.store.submit({ items: 5 });
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a step that takes too long is aborted by its signal, and retried as timeout_soft',
    async (bench) => {
      const reasons: unknown[] = [];
      let calls = 0;
      const fetched: StepFunction = (context) => {
        calls++;
        context.signal.addEventListener('abort', () => reasons.push(context.signal.reason));
        return calls === 1 ? never(context) : Promise.resolve({});
      };
      await bench.start({ fetched }, { timeoutMs: 5000 });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.equal(reasons.length, 1);
      assert.equal((reasons[0] as Failure).code, 'timeout_soft');
      const failed = (await bench.store.events()).find(({ kind }) => kind === 'step_failed');
      assert.equal(failed?.detail?.code, 'timeout_soft');
    },
  ],
  [
    'a job of which one item fails has succeeded in part',
    async (bench) => {
      const fetched: StepFunction = async ({ item }) => {
        if (item.source === 'bad') throw new Failure('http_404', 'gone');
        return {};
      };
      await bench.start({ fetched });
      const sources = ['good', 'bad'].map((source) => ({ kind: 'inline' as const, source }));
      const job = await bench.store.submit({ sources });
      await bench.untilJob(job, 'succeeded');
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.items_done, row.items_failed], [1, 1]);
      const last = (await bench.store.events()).find(({ kind }) => kind === 'job_succeeded');
      assert.equal(last?.detail?.partial, true);
    },
  ],
  [
    'while all unfinished items wait for a retry, the job is retry_pending',
    async (bench) => {
      const fetched = failing(1, () => new Failure('http_5xx', 'down'));
      await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'retry_pending');
      assert.equal((await bench.store.job(job.key)).items_waiting, 1);
      await bench.untilJob(job, 'succeeded');
      assert.equal((await bench.store.job(job.key)).items_waiting, 0);
    },
  ],
  [
    'the failure of one branch outweighs the retry of another, and both are in the history',
    async (bench) => {
      await bench.start({
        embedded: failing(9, () => new Failure('gpu_oom', 'no memory')),
        entity_extracted: failing(9, () => new Failure('step_output_invalid', 'no')),
      });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      assert.equal((await errorOf(bench, job.ids[0])).code, 'step_output_invalid');
      const story = await bench.store.story();
      assert.ok(story.includes('step_failed embedded'));
      assert.ok(story.includes('step_failed entity_extracted'));
    },
  ],
];
