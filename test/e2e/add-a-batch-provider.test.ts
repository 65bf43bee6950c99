import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarizer } from '../../examples/own-batch-provider.ts';
import { Client } from '../../src/client/http.ts';
import { open } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openRunner } from './pawl-process.ts';

test('a batch provider can be added from outside', async (t) => {
  const pawl = await open({
    data: temporaryDirectory(t),
    batchAdapters: [summarizer()],
    batchPollMs: 20,
  });
  t.after(() => pawl.close());
  const urls = ['https://a.example/one', 'https://a.example/two'];
  const asked = { taskType: 'summary', provider: 'ACME', urls };
  const { taskId: id } = await pawl.submitBatchTask(asked);
  const task = await until(
    async () => {
      const row = await pawl.batchTask(id);
      return row.state === 'completed' ? row : undefined;
    },
    { what: 'the task to be completed' },
  );
  const { jobs } = task.providerState as { jobs: [{ result: { summary: string }[] }] };
  assert.deepEqual(
    jobs[0].result.map(({ summary }) => summary),
    urls.map((url) => `short: ${url}`),
  );
  await pawl.close();
});

/** The same as an external module with its own setting. */
const moduleText = `
const jobs = new Map();

export function makeBatchProvider({ prefix }) {
  return {
    name: 'ACME',
    taskTypes: ['summary'],
    split: 'together',
    merge: 'flat',
    recognizedBy: 'token',
    find: async ({ token }) => (jobs.has(token) ? token : undefined),
    submit: async ({ token, sources }) => {
      jobs.set(token, sources);
      return token;
    },
    poll: async ({ externalId }) => ({
      said: 'completed',
      results: async function* () {
        for (const id of jobs.get(externalId)) {
          yield { id, isOk: true, value: { summary: prefix + id } };
        }
      },
    }),
    cancel: async () => true,
  };
}`;

test('pawl serve loads a provider from a module that the providers file names', async (t) => {
  const place = openRunner(t);
  place.write('settings/acme.mjs', moduleText);
  const entry = { module: './acme.mjs', prefix: 'short: ' };
  const environment = {
    PAWL_BATCH_PROVIDERS: place.write('settings/providers.json', JSON.stringify({ acme: entry })),
    PAWL_BATCH_POLL_SECONDS: '1',
  };
  const serving = place.start(['serve', '--port', '0', '--no-sample'], { environment });
  const [, url = ''] = await serving.seen(/Pawl listens on (http:\/\/127\.0\.0\.1:\d+)/);
  const client = new Client({ url });
  const urls = ['https://a.example/one'];
  const body = { task_type: 'summary', provider: 'ACME', urls };
  const { task_id: id } = await client.ask('POST /batch/tasks', { body });
  const ended = async (): Promise<boolean> =>
    (await client.ask('GET /batch/tasks/:id', { params: { id } })).state === 'completed';
  await until(ended, { what: 'the task to be completed' });
  const output = await client.ask('GET /batch/tasks/:id/output', { params: { id } });
  const results = [{ id: urls[0], summary: `short: ${urls[0]}` }];
  assert.deepEqual(output, { results });
  serving.child.kill('SIGTERM');
  assert.equal((await serving.finished).code, 0);
});

test('pawl serve refuses a module that is not a provider, and says why', async (t) => {
  const place = openRunner(t);
  place.write('acme.mjs', 'export const makeBatchProvider = () => ({ name: "ACME" });');
  const settings = JSON.stringify({ acme: { module: './acme.mjs' } });
  const environment = { PAWL_BATCH_PROVIDERS: place.write('providers.json', settings) };
  const { code, stderr } = await place.run(['serve', '--port', '0'], { environment });
  assert.equal(code, 64);
  assert.match(stderr, /acme\.mjs of batch provider acme is no batch provider: taskTypes must be/);
  assert.match(stderr, /submit must be a function/);
});
