import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { BatchProvider } from '../../src/provider/batch/batch-provider.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

/** A provider that summarizes, in an afternoon of one poll. */
function summarizer(): BatchProvider {
  const jobs = new Map<string, readonly string[]>();
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
        for (const source of jobs.get(externalId) ?? []) {
          yield { id: source, isOk: true as const, value: { summary: `short: ${source}` } };
        }
      },
    }),
    cancel: async () => true,
  };
}

test('a batch provider can be added from outside', async (t) => {
  const pawl = await open({
    data: temporaryDirectory(t),
    batchAdapters: [summarizer()],
    batchPollMs: 20,
  });
  t.after(() => pawl.close());
  const urls = ['https://a.example/one', 'https://a.example/two'];
  const id = await pawl.submitBatchTask({ task_type: 'summary', provider: 'ACME', urls });
  const task = await until(
    async () => {
      const row = await pawl.batchTask(id);
      return row.state === 'completed' ? row : undefined;
    },
    { what: 'the task to be completed' },
  );
  const { jobs } = JSON.parse(task.provider_state ?? '{}');
  assert.deepEqual(
    jobs[0].result.map(({ summary }: { summary: string }) => summary),
    urls.map((url) => `short: ${url}`),
  );
  await pawl.close();
});
