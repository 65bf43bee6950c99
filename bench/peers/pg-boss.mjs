/** pg-boss on Postgres: workers that take a thousand jobs at a time. */
import { setTimeout as pause } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { answer } from '../measure/child.ts';
import { measureBegun, measureQueue } from '../measure/queue.ts';
import { settleStatistics } from './settle.mjs';

const perCall = 5_000;
const batchSize = 1_000;
const workers = 4;
const connections = 20;

await answer((request) => (request.probe === 'zombie' ? probeZombie(request) : measure(request)));

async function start(url) {
  const boss = new PgBoss({
    connectionString: url,
    max: connections,
    useListenNotify: true,
    supervise: false,
    schedule: false,
  });
  boss.on('error', console.error);
  await boss.start();
  return boss;
}

async function measure({ store: { url, serverPid }, jobs, lone }) {
  const boss = await start(url);
  await boss.createQueue('bench', { partition: true, notify: true });
  const readings = await measureQueue({
    jobs,
    serverPid,
    note: `${workers} workers, batches of ${batchSize}`,
    async enqueue() {
      for (let first = 0; first < jobs; first += perCall) {
        const count = Math.min(perCall, jobs - first);
        await boss.insert(
          'bench',
          Array.from({ length: count }, (_, i) => ({ data: { i } })),
        );
      }
    },
    settle: () => settleStatistics(url),
    process: () => workOff(boss, jobs),
  });
  return [...readings, await measureLone(boss, { jobs: lone, serverPid })];
}

async function workOff(boss, jobs) {
  const { promise, resolve } = Promise.withResolvers();
  let ran = 0;
  const options = {
    batchSize,
    localConcurrency: workers,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
  };
  await boss.work('bench', options, async (batch) => {
    ran += batch.length;
    if (ran >= jobs) resolve();
  });
  await promise;
  // The functions have run; now the last completions must be stored.
  const open = `SELECT COUNT(*)::int AS count FROM pgboss.job
    WHERE name = 'bench' AND state < 'completed'`;
  while ((await boss.getDb().executeSql(open)).rows[0].count > 0) await pause(5);
}

async function measureLone(boss, work) {
  await boss.createQueue('lone', { notify: true });
  const hooks = { onBegun: () => undefined };
  const options = { batchSize: 1, pollingIntervalSeconds: 0.5 };
  await boss.work('lone', options, async () => hooks.onBegun());
  return measureBegun(work, (onBegun) => {
    hooks.onBegun = onBegun;
    return boss.send('lone', {});
  });
}

/** The first fetch expires; the second has the job when the first is completed. */
async function probeZombie({ store: { url } }) {
  const boss = await start(url);
  await boss.createQueue('zombie', { expireInSeconds: 1, retryLimit: 5 });
  const id = await boss.send('zombie', {});
  const [slow] = await boss.fetch('zombie');
  await pause(1_500);
  await boss.supervise('zombie');
  let next;
  for (let attempt = 0; attempt < 40 && next === undefined; attempt++) {
    await pause(250);
    [next] = await boss.fetch('zombie');
  }
  if (next?.id !== id) throw new Error('the job was not handed to the next worker');
  await boss.complete('zombie', slow.id);
  const [job] = await boss.findJobs('zombie', { id });
  return [{ measure: 'zombie', value: job.state === 'completed' ? 1 : 0 }];
}
