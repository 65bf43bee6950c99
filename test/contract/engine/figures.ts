/** Reported figures of a job and its items, compared with the truth, in virtual time. */
import assert from 'node:assert/strict';
import { Failure, type FailureCode, failures } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import { jobDetailShape, jobShape } from '../../../src/service/view/serializer.ts';
import { attemptOf } from '../../../src/store/item/items.ts';
import { countersOf } from '../../../src/store/job/counters.ts';
import { listStandings } from '../../../src/store/job/views.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import type { Submitted } from '../../support/store-fixture.ts';
import { failing } from './step.ts';

const second = 1000;

/** A step that takes this long. */
function taking(durationMs: number, end: () => void = () => undefined): StepFunction {
  return ({ world }) =>
    new Promise((resolve, reject) => {
      world.setTimer(() => {
        try {
          end();
          resolve({});
        } catch (error) {
          reject(error);
        }
      }, durationMs);
    });
}

async function durationOf(bench: EngineFixture, { key }: Submitted): Promise<number> {
  const row = await bench.store.job(key);
  return countersOf(row, bench.world.now()).duration_seconds;
}

async function etaOf(bench: EngineFixture, { key }: Submitted): Promise<number | null> {
  const row = await bench.store.job(key);
  return jobShape(row, 'scraping', bench.world.now()).eta_seconds;
}

async function untilDone(bench: EngineFixture, { key }: Submitted, count: number): Promise<void> {
  await bench.world.until(`${count} items to be done`, async () => {
    return (await bench.store.job(key)).items_done >= count;
  });
}

async function detailOf(bench: EngineFixture, { key }: Submitted) {
  const row = await bench.store.job(key);
  const standings = await listStandings(bench.store.database, row.id);
  const now = bench.world.now();
  return jobDetailShape({ row, status: 'scraping', standings, causes: [], partlyRead: 0 }, now);
}

/** For each move of the job: from, to, reason, attempt. */
async function movesOf(bench: EngineFixture): Promise<unknown[][]> {
  const events = await bench.store.events();
  return events
    .filter(({ kind }) => kind.startsWith('job_'))
    .map(({ attempt, detail }) => [detail?.from, detail?.to, detail?.reason, attempt]);
}

const down = (): Failure => new Failure('http_5xx', 'the site answers 500');

export const figureTests: readonly EngineTest[] = [
  [
    'the duration of a job excludes its pauses, and the time until it is retried',
    async (bench) => {
      let isBroken = true;
      const indexed: StepFunction = async ({ item }) => {
        if (isBroken && item.source === 'note-4') throw new Failure('http_404', 'gone');
        return {};
      };
      const steps = { fetched: taking(second), indexed };
      const engine = await bench.start(steps, { places: 1 });
      const job = await bench.store.submit({ items: 4 });
      await untilDone(bench, job, 2);
      const before = await durationOf(bench, job);
      assert.equal(before, 2);
      await engine.commands.pause('ann', job.key);
      await bench.world.advance(60 * second);
      assert.equal(await durationOf(bench, job), before);
      await engine.commands.resume('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      // A step interrupted by the pause runs again, so it takes at most twice its time.
      const ended = await durationOf(bench, job);
      assert.ok(ended >= 4 && ended <= 5, `${ended} s`);
      await bench.world.advance(60 * second);
      assert.equal(await durationOf(bench, job), ended);
      isBroken = false;
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      const retried = await durationOf(bench, job);
      assert.ok(retried >= ended && retried <= ended + 1, `${retried} s`);
      const ends = (await bench.store.events()).filter(({ kind }) => kind === 'job_succeeded');
      const spans = ends.map(({ detail }) => Number(detail?.duration_ms) / second);
      assert.deepEqual(spans, [ended, retried - ended]);
    },
  ],
  [
    'the ETA is correct, also after a pause and after a retry',
    async (bench) => {
      let isBroken = true;
      const end = (): void => {
        if (isBroken) throw new Failure('http_404', 'gone');
      };
      const engine = await bench.start({ fetched: taking(second, end) }, { places: 1 });
      const job = await bench.store.submit({ items: 8 });
      await bench.untilJob(job, 'failed');
      await bench.world.advance(40 * second);
      isBroken = false;
      await engine.commands.retry('ann', job.key);
      const told: [eta: number | null, truth: number][] = [];
      for (const done of [1, 4, 6]) {
        await untilDone(bench, job, done);
        told.push([await etaOf(bench, job), 8 - done]);
        if (done !== 4) continue;
        await engine.commands.pause('ann', job.key);
        await bench.world.advance(40 * second);
        assert.equal(await etaOf(bench, job), null);
        await engine.commands.resume('ann', job.key);
      }
      for (const [eta, truth] of told) {
        assert.ok(eta !== null && Math.abs(eta - truth) <= 1, `${eta} s said, ${truth} s left`);
      }
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'a failed item reports how many tries were made',
    async (bench) => {
      await bench.start({ fetched: failing(99, down) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      const tries = bench.runs.filter((step) => step === 'fetched').length;
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.attempt, attemptOf(item)], [tries, tries]);
    },
  ],
  [
    'failed tries are kept when a process stops and returns its items',
    async (bench) => {
      let calls = 0;
      const fetched: StepFunction = () => {
        calls++;
        if (calls === 1) throw down();
        return new Promise(() => undefined);
      };
      const engine = await bench.start({ fetched });
      const job = await bench.store.submit();
      await bench.world.until('the second try', () => calls === 2);
      await bench.stop(engine);
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.waits_on, item.attempt], ['turn', 1]);
      assert.equal(JSON.parse(item.error ?? '{}').code, 'http_5xx');
    },
  ],
  ...(
    [
      ['http_5xx', 'transient', 1],
      ['http_429', 'rate_limited', 0],
      ['qdrant_unavailable', 'transient', 0],
    ] satisfies [FailureCode, string, number][]
  ).map(
    ([code, kind, spent]): EngineTest => [
      `while an item waits after ${code}, it and its job name the failure; then they clear it`,
      async (bench) => {
        await bench.start({ fetched: failing(1, () => new Failure(code, 'not now')) });
        const job = await bench.store.submit();
        await bench.untilJob(job, 'retry_pending');
        const item = await bench.store.item(job.ids[0]);
        const error = JSON.parse(item.error ?? '{}');
        assert.deepEqual([error.code, error.kind, item.failed_at], [code, kind, null]);
        assert.equal(attemptOf(item), 1 + spent);
        const shown = await detailOf(bench, job);
        assert.deepEqual([shown.last_error_code, shown.last_error_kind], [code, kind]);
        assert.equal('error' in shown, false);
        const events = await bench.store.events();
        const scheduled = events.find((event) => event.kind === 'retry_scheduled');
        const { code: told, error_code, error_kind, spends_retry } = scheduled?.detail ?? {};
        assert.deepEqual([told, error_kind, spends_retry], [code, kind, spent === 1]);
        assert.equal(error_code, failures[code].errorCode);
        await bench.untilJob(job, 'succeeded');
        assert.equal((await bench.store.item(job.ids[0])).error, null);
        assert.equal((await detailOf(bench, job)).last_error_code, null);
      },
    ],
  ),
  [
    'a job that waits for a rate limit has E_429_RATE in its history',
    async (bench) => {
      await bench.start({ fetched: failing(1, () => new Failure('http_429', 'slow down')) });
      await bench.untilJob(await bench.store.submit(), 'retry_pending');
      const told = (await bench.store.events()).filter(
        ({ detail }) => detail?.error_code === 'E_429_RATE',
      );
      const kinds = told.map(({ kind }) => kind);
      assert.deepEqual(kinds, ['step_failed', 'retry_scheduled', 'job_waiting']);
    },
  ],
  [
    'a running job names the failure that one of its items waits after',
    async (bench) => {
      const fetched: StepFunction = ({ item }) => {
        if (item.source === 'note-1') throw down();
        return new Promise(() => undefined);
      };
      await bench.start({ fetched });
      const job = await bench.store.submit({ items: 2 });
      await bench.untilStory('retry_scheduled fetched');
      const shown = await detailOf(bench, job);
      assert.deepEqual(
        [shown.state, shown.items_waiting, shown.last_error_code, shown.attempt],
        ['running', 1, 'http_5xx', 2],
      );
    },
  ],
  [
    'every move of a job is reported with from, to, the failure code, and the try',
    async (bench) => {
      const engine = await bench.start({ fetched: failing(6, down) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      const claimed = 'an item was claimed';
      const due = 'the time of a retry has come';
      const tally = '1 done, 0 failed, 0 canceled of 1';
      assert.deepEqual(await movesOf(bench), [
        [null, 'queued', 'accepted', 1],
        ['queued', 'running', claimed, 1],
        ['running', 'retry_pending', 'http_5xx', 1],
        ['retry_pending', 'running', due, 2],
        ['running', 'retry_pending', 'http_5xx', 2],
        ['retry_pending', 'running', due, 3],
        ['running', 'retry_pending', 'http_5xx', 3],
        ['retry_pending', 'running', due, 4],
        ['running', 'failed', 'http_5xx', 4],
        ['failed', 'queued', 'retry requested', 5],
        ['queued', 'running', claimed, 5],
        ['running', 'retry_pending', 'http_5xx', 5],
        ['retry_pending', 'running', due, 6],
        ['running', 'retry_pending', 'http_5xx', 6],
        ['retry_pending', 'running', due, 7],
        ['running', 'succeeded', tally, 7],
      ]);
    },
  ],
  [
    'a job waits under the code of a waiting item, also if another item ended last',
    async (bench) => {
      const fetched: StepFunction = async (context) => {
        if (context.item.source === 'note-1') throw down();
        return taking(second)(context);
      };
      await bench.start({ fetched });
      const job = await bench.store.submit({ items: 2 });
      await bench.untilJob(job, 'retry_pending');
      const moves = await movesOf(bench);
      assert.deepEqual(moves.at(-1), ['running', 'retry_pending', 'http_5xx', 1]);
    },
  ],
  [
    'a heartbeat refreshes the jobs in progress, and no others',
    async (bench) => {
      await bench.start({ fetched: () => new Promise(() => undefined) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'running');
      const other = await bench.store.submit({ caller: 'ben', gate: 'example.com' });
      await bench.store.commands.pause('ben', other.key);
      const rest = (await bench.store.job(other.key)).updated_at;
      await bench.world.advance(5 * limits.lease.heartbeatMs);
      const { updated_at } = await bench.store.job(job.key);
      assert.ok(bench.world.now() - updated_at <= limits.lease.heartbeatMs);
      assert.equal((await bench.store.job(other.key)).updated_at, rest);
    },
  ],
  [
    'a canceled job says when it was canceled, until it is retried',
    async (bench) => {
      const job = await bench.store.submit();
      await bench.world.advance(second);
      await bench.store.commands.cancel('ann', job.key);
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.canceled_at, row.ended_at], [bench.world.now(), bench.world.now()]);
      await bench.store.commands.retry('ann', job.key);
      assert.equal((await bench.store.job(job.key)).canceled_at, null);
    },
  ],
  [
    'a failed step reports its model and usage',
    async (bench) => {
      const embedded: StepFunction = async ({ used }) => {
        used?.({ model: 'm1' });
        used?.({ model: 'm1', tokensIn: 7, costCents: 0.5 });
        used?.({ model: 'm1', tokensIn: 2, tokensOut: 1, costCents: 0.25 });
        throw new Failure('provider_auth', 'the key is wrong');
      };
      await bench.start({ embedded });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      const failed = (await bench.store.events()).find(({ kind }) => kind === 'step_failed');
      const { model, tokens_in, tokens_out, cost_cents } = failed?.detail ?? {};
      assert.deepEqual([model, tokens_in, tokens_out, cost_cents], ['m1', 9, 1, 0.75]);
    },
  ],
  [
    'a failure of an address names its domain, for every code',
    async (bench) => {
      const codes: readonly FailureCode[] = ['network_error', 'robots_disallowed', 'parse_timeout'];
      let code: FailureCode = 'network_error';
      await bench.start({ fetched: failing(99, () => new Failure(code, 'no')) });
      for (code of codes) {
        const source = `https://docs.example.com:8443/${code}?key=secret`;
        const job = await bench.store.submit({ sources: [{ kind: 'inline', source }] });
        await bench.untilJob(job, 'failed');
        const { context } = JSON.parse((await bench.store.item(job.ids[0])).error ?? '{}');
        assert.equal(context.domain, 'docs.example.com', code);
        assert.doesNotMatch(context.url, /secret/);
      }
    },
  ],
];
