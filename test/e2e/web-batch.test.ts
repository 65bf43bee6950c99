/** Batch tasks in the workbench: submitted, listed, followed live, shown, canceled. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { BatchTask } from '../../src/contract/operation/batch.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import { SarvamServer } from '../support/batch/sarvam-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { draw, drawAll, findProblems, launchBrowser, openView } from './web-browser.ts';

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
  const sarvam = new SarvamServer();
  sarvam.transcribe = () => 'The heron waits in the reeds.';
  await sarvam.server.start(t);
  const batchProviders = {
    azure: { url: azure.server.url, key: 'key' },
    openai: { url: openai.url, key: 'key' },
    sarvam: { url: sarvam.server.url, key: 'key' },
  };
  const bench = await openBench(t, { batchProviders, batchPollMs: 100, batchGatherMs: 0 });
  const submit = async (body: object): Promise<string> =>
    (await bench.ask<BatchTask>('POST /batch/tasks', { body })).body.task_id;
  return { azure, openai, address: bench.service.address, submit, bench };
}

describe('the page of batch tasks', () => {
  test('shows the next step when empty, follows each task, and shows its results', async (t) => {
    const { azure, address, submit } = await setup(t);
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit('/jobs');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByText('No batch tasks yet').waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'batch-none-light');
    await submit(questions);
    await page.locator('.task-row').filter({ hasText: 'completed' }).waitFor();
    await page.getByText(/¢ instead of .*¢/).waitFor();
    await submit(recordings);
    const row = page.locator('.task-row').filter({ hasText: 'transcription · AZURE' });
    await row.filter({ hasText: 'in progress' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await drawAll(page, 'batch');
    await row.click();
    await page.getByText('nonsense').waitFor();
    await page.locator('tr').filter({ hasText: 'transcriptions/t-1' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    azure.pollsToGo = 0;
    await page.getByRole('button', { name: 'Show results' }).click();
    await page.getByText('words of https://media.example/one.wav').first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await drawAll(page, 'batch-task');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all' }).click();
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
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await page.getByText('The provider is notified').waitFor();
    await page.getByText('canceled', { exact: true }).first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await visit('/batch?state=canceled');
    await page.locator('.task-row').filter({ hasText: 'canceled' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await visit('/batch?state=failed');
    await page.getByText('No task matches the filter').waitFor();
    await visit('/batch/nothing');
    await page.getByText('batch_task_unknown').waitFor();
    assert.equal(azure.server.count(/^POST /), 1);
    assert.deepEqual(complaints, []);
  });
});

test('the page of a task shows what the task waits for', async (t) => {
  const { azure, address, submit } = await setup(t);
  const reply = { status: 429, headers: { 'retry-after': '900' } };
  azure.server.trouble({ on: /transcriptions:submit$/, reply });
  const { page, visit, complaints } = await openView(t, { browser, address });
  await visit(`/batch/${await submit(recordings)}`);
  await page.getByText('AZURE answered 429').waitFor();
  assert.deepEqual(await findProblems(page), []);
  assert.deepEqual(complaints, []);
});

describe('the form of a batch task', () => {
  test('submits questions, and shows why the service refuses a task', async (t) => {
    const { address, openai } = await setup(t);
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit('/batch');
    await page.getByRole('link', { name: 'New task' }).click();
    await page.getByLabel('Task type').selectOption({ label: 'completion' });
    const submit = page.getByRole('button', { name: 'Submit task' });
    assert.equal(await submit.isDisabled(), true);
    await page.getByLabel('Models').fill('nobody-has-this');
    await page.getByLabel('Questions or texts').fill('Who repaired the bridge?\nWhen was it?');
    await page.getByLabel('Instruction').fill('Be brief.');
    assert.deepEqual(await findProblems(page), []);
    await drawAll(page, 'batch-new');
    await submit.click();
    await page.getByText('provider_unknown').waitFor();
    await page.getByLabel('Models').fill('gpt-4o-mini');
    await submit.click();
    await page.getByRole('button', { name: 'Show results' }).click();
    await page.getByText('Ada, in spring.').first().waitFor();
    const [batch] = openai.batches.values();
    assert.ok(batch);
    assert.deepEqual(
      openai.lines(batch).map(({ custom_id }) => custom_id),
      ['line-1', 'line-2'],
    );
    assert.deepEqual(complaints, []);
  });

  test('submits recordings to the chosen provider', async (t) => {
    const { address, azure } = await setup(t);
    const options = { width: 390, colorScheme: 'dark' } as const;
    const { page, visit, complaints } = await openView(t, { browser, address }, options);
    await visit('/batch/new');
    await page.getByLabel('Task type').selectOption({ label: 'transcription by AZURE' });
    await page.getByLabel('Addresses').fill(recordings.urls.join('\n'));
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole('button', { name: 'Submit task' }).click();
    await page.locator('tr').filter({ hasText: 'transcriptions/t-1' }).waitFor();
    assert.deepEqual(azure.jobs.get('t-1')?.contentUrls, recordings.urls.slice(0, 2));
    assert.deepEqual(complaints, []);
  });
});

test('a recording is added in the cheap lane, and found by its spoken words', async (t) => {
  const { address, bench } = await setup(t);
  const { page, visit, complaints } = await openView(t, { browser, address });
  await visit('/add?corpus=talks');
  const sound = Buffer.from('RIFF\x24\0\0\0WAVEfmt \0\0\0\0heron', 'latin1');
  const talk = { name: 'talk.wav', mimeType: 'audio/wav', buffer: sound };
  await page.getByLabel('Choose files').setInputFiles([talk]);
  await page.getByText('a recording: choose the batch lane').waitFor();
  const lane = page.getByRole('group', { name: 'Lane' });
  await lane.getByRole('button', { name: 'Batch lane' }).click();
  await page.getByText('recordings are transcribed').waitFor();
  assert.deepEqual(await findProblems(page), []);
  await draw(page, 'add-cheap-light');
  await page.getByRole('button', { name: 'Add 1 source in background' }).click();
  await page.getByText('ready to search').first().waitFor();
  const { body: jobs } = await bench.ask<{ items: { lane: string }[] }>('GET /jobs');
  assert.deepEqual(
    jobs.items.map(({ lane: used }) => used),
    ['cheap'],
  );
  const query = { query: 'heron', corpus_name: 'talks' };
  const found = await bench.ask<{ results: { text: string }[] }>('POST /search', { body: query });
  assert.match(found.body.results[0]?.text ?? '', /heron waits in the reeds/i);
  assert.deepEqual(complaints, []);
});
