/** Batch tasks in the workbench: listed, followed live, read, canceled. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { BatchTask } from '../../src/api/contract/batch.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { draw, findProblems, launchBrowser, openView } from './web-browser.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

const recordings = {
  task_type: 'transcription',
  provider: 'AZURE',
  urls: ['https://media.example/one.wav', 'https://media.example/two.wav', 'nonsense'],
};
const questions = {
  task_type: 'completion',
  models: ['gpt-4o-mini'],
  requests: [
    { custom_id: 'a', input: 'Who repaired the bridge?' },
    { custom_id: 'b', input: 'When was it?' },
  ],
};

async function setup(t: Cleanup) {
  const azure = new AzureServer();
  azure.pollsToGo = Number.POSITIVE_INFINITY;
  await azure.start(t);
  const openai = new OpenaiServer();
  openai.answer = () => ({ content: 'Ada, in spring.' });
  await openai.start(t);
  const batchProviders = {
    azure: { url: azure.server.url, key: 'key' },
    openai: { url: openai.url, key: 'key' },
  };
  const bench = await openBench(t, { batchProviders, batchPollMs: 100 });
  const submit = async (body: object): Promise<string> =>
    (await bench.ask<BatchTask>('POST /batch/tasks', { body })).body.task_id;
  return { azure, address: bench.service.address, submit };
}

describe('the page of batch tasks', () => {
  test('is empty with the next step, follows each task, and shows what came of it', async (t) => {
    const { azure, address, submit } = await setup(t);
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit('/jobs');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByText('Nothing has been handed to a provider').waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'batch-none-light');
    await submit(questions);
    await page.locator('.task-row').filter({ hasText: 'completed' }).waitFor();
    await page.getByText(/¢ instead of .*¢/).waitFor();
    await submit(recordings);
    const row = page.locator('.task-row').filter({ hasText: 'transcription · AZURE' });
    await row.filter({ hasText: 'in progress' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'batch-light');
    await row.click();
    await page.getByText('nonsense').waitFor();
    await page.locator('tr').filter({ hasText: 'transcriptions/t-1' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    azure.pollsToGo = 0;
    await page.getByRole('button', { name: 'Show results' }).click();
    await page.getByText('words of https://media.example/one.wav').first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'batch-task-light');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save all of it' }).click();
    assert.match((await saving).suggestedFilename(), /^batch-.*\.json$/);
    assert.deepEqual(complaints, []);
  });

  test('cancels a task on a narrow screen, and filters by state', async (t) => {
    const { azure, address, submit } = await setup(t);
    const id = await submit(recordings);
    const options = { width: 390, colorScheme: 'dark' } as const;
    const { page, visit, complaints } = await openView(t, { browser, address }, options);
    await visit(`/batch/${id}`);
    await page.locator('tr').filter({ hasText: 'transcriptions/t-1' }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByText('Its provider is told').waitFor();
    await page.getByText('canceled', { exact: true }).first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'batch-task-narrow');
    await visit('/batch?state=canceled');
    await page.locator('.task-row').filter({ hasText: 'canceled' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await visit('/batch?state=failed');
    await page.getByText('No task is like that').waitFor();
    await visit('/batch/nothing');
    await page.getByText('batch_task_unknown').waitFor();
    assert.equal(azure.server.count(/^POST /), 1);
    assert.deepEqual(complaints, []);
  });
});
