/**
 * One cycle of the reconciler over many tasks in progress, with a provider on this machine: its
 * duration, and whether memory grows with the number of tasks. `node --expose-gc bench/batch.ts
 * [TASKS]`; the last line is JSON. Without the flag, garbage counts as memory in use.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { realWorld } from '../src/app/world.ts';
import { openBlobDirectory } from '../src/blob/directory.ts';
import { BatchProviders } from '../src/engine/batch/plan.ts';
import { item } from '../src/kernel/lifecycle/item.ts';
import { Endpoint } from '../src/provider/batch/endpoint.ts';
import { openaiBatches } from '../src/provider/batch/vendor/openai.ts';
import { takeDueTasks } from '../src/store/batch/taking.ts';
import { insertBatchTask, moveTask } from '../src/store/batch/tasks.ts';
import type { Database } from '../src/store/driver/database.ts';
import { migrate } from '../src/store/driver/migrate.ts';
import { openSqlite } from '../src/store/driver/sqlite.ts';
import { reconcile } from '../test/support/batch/rounds.ts';
import { makeDirectory, removeDirectory } from '../test/support/temporary.ts';

const mebibyte = 1024 * 1024;
const world = realWorld();

async function fill(database: Database, count: number): Promise<void> {
  const now = database.now();
  for (let made = 0; made < count; made += 500) {
    await database.write(async (transaction) => {
      for (let index = made; index < Math.min(made + 500, count); index += 1) {
        const input = { dataset_ids: ['d'], models: ['gpt-4o-mini'], requests: 1 };
        const key = world.uuid();
        const task = { key, caller: 'local', taskType: 'completion', provider: null, input, now };
        await insertBatchTask(transaction, { ...task, servedBy: 'OPENAI' });
      }
      const limit = 500;
      const taking = { servedBy: 'OPENAI', limit, now, heldUntil: now };
      const rows = await takeDueTasks(transaction, 'submit', taking);
      for (const row of rows) {
        const job = { model: 'gpt-4o-mini', external_job_id: `batch_${row.id}` };
        const entry = { ...job, status: 'RUNNING' as const, transient_failures: 0 };
        const providerState = {
          task_type: 'completion',
          input_dataset_ids: ['d'],
          jobs: [entry],
        };
        await moveTask(transaction, row, { event: 'submit', providerState, nextAt: now, now });
      }
    });
  }
}

async function measure(count: number) {
  const directory = makeDirectory();
  const server = createServer((request, response) => {
    const id = request.url?.split('/').at(-1);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id, status: 'in_progress' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const database = openSqlite({ path: join(directory, 'pawl.db'), world });
  await migrate(database, item);
  await fill(database, count);
  const authorize = async () => ({});
  const endpoint = new Endpoint({ name: 'OpenAI', url, world, authorize });
  const options = {
    database,
    world,
    blobs: openBlobDirectory(join(directory, 'blobs'), world),
    providers: new BatchProviders([openaiBatches(endpoint)]),
    onError: (what: string, error: unknown) => console.error(what, error),
  };
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let peak = before;
  const sampler = setInterval(() => {
    globalThis.gc?.();
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  }, 250);
  const startedAt = performance.now();
  const seen = await reconcile(options, new AbortController().signal);
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(sampler);
  await database.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  removeDirectory(directory);
  return { tasks: count, seen, seconds, heapGrownMib: (peak - before) / mebibyte };
}

const most = Number(process.argv[2] ?? 10_000);
const results = [];
for (const count of [Math.ceil(most / 10), most]) {
  const result = await measure(count);
  results.push(result);
  const { tasks, seconds, heapGrownMib } = result;
  const line = `${tasks} tasks: one cycle in ${seconds.toFixed(1)} s`;
  console.log(`${line}, heap at most ${heapGrownMib.toFixed(0)} MiB above the start`);
}
console.log(JSON.stringify(results));
