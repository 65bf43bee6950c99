/**
 * Graphile Worker on Postgres, with its local queue and batched completion, as in its published
 * benchmark.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run, runOnce } from 'graphile-worker';
import pg from 'pg';
import { answer } from '../measure/child.ts';
import { measureBegun, measureQueue } from '../measure/queue.ts';
import { settleStatistics } from './settle.mjs';

const perCall = 10_000;
const concurrentJobs = 48;
const localQueueSize = 500;
const logger = new Logger(() => () => undefined);

await answer((request) => (request.probe === 'zombie' ? probeZombie(request) : measure(request)));

async function measure({ store: { url, serverPid }, jobs, lone }) {
  const producer = await makeWorkerUtils({ connectionString: url, logger });
  await producer.migrate();
  const worker = {
    connectionString: url,
    logger,
    concurrentJobs,
    maxPoolSize: concurrentJobs + 1,
    localQueue: { size: localQueueSize },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  const readings = await measureQueue({
    jobs,
    serverPid,
    note: `${concurrentJobs} at once, local queue of ${localQueueSize}, batched completion`,
    async enqueue() {
      for (let first = 0; first < jobs; first += perCall) {
        const count = Math.min(perCall, jobs - first);
        await producer.addJobs(
          Array.from({ length: count }, (_, i) => ({ identifier: 'noop', payload: { i } })),
        );
      }
    },
    settle: () => settleStatistics(url),
    process: () => workOff(worker, jobs),
  });
  const hooks = { onBegun: () => undefined };
  const taskList = { lone: () => hooks.onBegun() };
  await run({ preset: { worker }, taskList, noHandleSignals: true });
  const begun = await measureBegun({ jobs: lone, serverPid }, (onBegun) => {
    hooks.onBegun = onBegun;
    return producer.addJob('lone', {});
  });
  return [...readings, begun];
}

async function workOff(worker, jobs) {
  let ran = 0;
  const count = () => {
    ran++;
  };
  await runOnce({ preset: { worker }, taskList: { noop: count }, noHandleSignals: true });
  if (ran !== jobs) throw new Error(`${ran} of ${jobs} jobs ran`);
}

/** The first worker's lock is aged by hand, since it would hold for four hours. */
async function probeZombie({ store: { url } }) {
  const producer = await makeWorkerUtils({ connectionString: url, logger });
  await producer.migrate();
  await producer.addJob('zombie', {});
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const slow = Promise.withResolvers();
  const next = Promise.withResolvers();
  const release = Promise.withResolvers();
  const start = (begun, end) => {
    const zombie = () => {
      begun.resolve();
      return end;
    };
    const options = { connectionString: url, logger, noHandleSignals: true, pollInterval: 100 };
    return run({ ...options, taskList: { zombie } });
  };
  await start(slow, release.promise);
  await slow.promise;
  await client.query(
    `UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '5 hours'`,
  );
  await start(next, new Promise(() => undefined));
  await next.promise;
  release.resolve();
  await pause(1_000);
  const { rowCount } = await client.query('SELECT id FROM graphile_worker._private_jobs');
  return [{ measure: 'zombie', value: rowCount === 0 ? 1 : 0 }];
}
