/** BullMQ on Redis: one worker with many concurrent jobs. */
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { answer } from '../measure/child.ts';
import { measureBegun, measureQueue } from '../measure/queue.ts';

const concurrency = 100;
const perCall = 1_000;
const callsAtOnce = 4;

await answer((request) => (request.probe === 'zombie' ? probeZombie(request) : measure(request)));

async function measure({ store: { port, serverPid }, jobs, lone }) {
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } });
  await queue.waitUntilReady();
  const hooks = { onBegun: () => undefined, onCompleted: () => undefined };
  const options = { connection, concurrency, autorun: false };
  const worker = new Worker('bench', async () => hooks.onBegun(), options);
  worker.on('completed', () => hooks.onCompleted());
  await worker.waitUntilReady();

  const readings = await measureQueue({
    jobs,
    serverPid,
    note: `${concurrency} at once, append-only file flushed every second`,
    enqueue: () => enqueue(queue, jobs),
    async process() {
      const { promise, resolve } = Promise.withResolvers();
      let completed = 0;
      hooks.onCompleted = () => ++completed === jobs && resolve();
      void worker.run();
      await promise;
    },
  });
  const begun = await measureBegun({ jobs: lone, serverPid }, (onBegun) => {
    hooks.onBegun = onBegun;
    return queue.add('lone', {});
  });
  return [...readings, begun];
}

async function enqueue(queue, jobs) {
  let next = 0;
  const addSome = async () => {
    while (next < jobs) {
      const count = Math.min(perCall, jobs - next);
      next += count;
      await queue.addBulk(Array.from({ length: count }, (_, i) => ({ name: 'noop', data: { i } })));
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, addSome));
}

/**
 * The first worker loses its lock while it works; the second has the job when the first is done.
 */
async function probeZombie({ store: { port } }) {
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue('zombie', { connection });
  const slow = Promise.withResolvers();
  const next = Promise.withResolvers();
  const release = Promise.withResolvers();
  const work = (begun, end) => () => {
    begun.resolve();
    return end;
  };
  const first = new Worker('zombie', work(slow, release.promise), {
    connection,
    lockDuration: 1_000,
    skipLockRenewal: true,
    skipStalledCheck: true,
  });
  first.on('error', () => undefined); // The refusal itself.
  const { id } = await queue.add('job', {});
  await slow.promise;
  await first.pause(true);
  const second = new Worker('zombie', work(next, new Promise(() => undefined)), {
    connection,
    stalledInterval: 500,
    maxStalledCount: 5,
  });
  second.on('error', console.error);
  await next.promise;
  release.resolve('late');
  await pause(1_000);
  const state = await (await queue.getJob(id)).getState();
  return [{ measure: 'zombie', value: state === 'completed' ? 1 : 0 }];
}
