/**
 * The attempt button: sources are staged, checked, read, chunked and stored in one transaction, or
 * paused.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { untilEqual } from '../support/wait.ts';
import {
  draw,
  findProblems,
  findViolations,
  idle,
  openSuite,
  openView,
  postJob,
} from './web-browser.ts';

const suite = openSuite();

const fileOf = (name: string, text: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
});

const at = (page: Page, status: string) => page.locator(`[data-attempt="${status}"]`).waitFor();

async function chooseFiles(page: Page, files: readonly ReturnType<typeof fileOf>[]): Promise<void> {
  await page.getByLabel('Choose files').setInputFiles([...files]);
}

describe('the attempt button', () => {
  test('pauses and resumes an attempt, which continues when its page is left', async (t) => {
    const { site } = suite;
    site.hold('/slow');
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/add?corpus=birds');
    const urls = ['/heron', '/slow/owl', '/slow/wren'].map((path) => site.origin + path);
    await page.getByLabel('Addresses, one per line, or a text').fill(urls.join('\n'));
    await page.getByRole('button', { name: 'Add 3 sources to birds' }).click();
    await at(page, 'running');
    await page.locator('[data-sources="3"]').waitFor();
    await page.getByText('if the service stops now, this import is lost').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await draw(page, 'add-running-light');
    await page.getByRole('button', { name: 'Pause' }).click();
    await at(page, 'paused');
    await page.getByRole('listitem').filter({ hasText: 'Checking' }).waitFor();
    // Leaving the page, returning and reloading shows the same state, without a prompt.
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Add' }).click();
    await at(page, 'paused');
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'add-paused-light');
    await page.setViewportSize({ width: 390, height: 844 });
    await draw(page, 'add-paused-narrow');
    const wren = page.locator('[data-source]').filter({ hasText: '/slow/wren' });
    await wren.getByRole('button', { name: 'Remove' }).click();
    await page.locator('[data-sources="2"]').waitFor();
    site.release('/slow');
    await page.getByRole('button', { name: 'Resume' }).click();
    await at(page, 'complete');
    await page.getByText('ready to search').first().waitFor();
    await untilEqual(() => page.locator('[data-source="split"]').count(), 2);
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'add-complete-light');
    await page.getByRole('link', { name: 'Open the job' }).click();
    await page.getByText('2 of 2').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('shows the result of each source, and retries failed ones', async (t) => {
    const { site } = suite;
    site.break('/gone');
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=notes');
    const same = fileOf('copy.txt', 'The heron waits in the reeds.');
    await chooseFiles(page, [fileOf('heron.txt', 'The heron waits in the reeds.'), same]);
    await page.getByText('1 ready · 1 same content').waitFor();
    await page.getByText('the same as heron.txt').waitFor();
    await page.getByRole('button', { name: 'Add 1 source to notes' }).click();
    await at(page, 'complete');
    await page.getByText('1 added. A job makes').waitFor();
    await page.getByLabel('Addresses, one per line, or a text').fill(`${site.origin}/gone`);
    await page.getByRole('button', { name: 'Add 1 source to notes' }).click();
    await at(page, 'idle');
    await page.locator('[data-source="refused"]').getByText('http_404').waitFor();
    site.mend('/gone');
    await page.getByRole('button', { name: 'Add 1 source to notes' }).click();
    await at(page, 'complete');
    await page.getByText('ready to search').first().waitFor();
  });

  test('shows upload progress, and stops an upload', async (t) => {
    const { page, context, visit } = await openView(t, suite);
    await visit('/add?corpus=large');
    await chooseFiles(page, [fileOf('large.txt', 'The heron waits.\n'.repeat(300_000))]);
    const session = await context.newCDPSession(page);
    const rates = { offline: false, latency: 0, downloadThroughput: -1 };
    const slow = { ...rates, uploadThroughput: 500_000 };
    await session.send('Network.emulateNetworkConditions', slow);
    await page.getByRole('button', { name: 'Add 1 source to large' }).click();
    const sending = page.getByRole('button', { name: /Sending, [1-9]\d? %: stop/ });
    await sending.click();
    const again = page.getByRole('button', { name: 'Add 1 source to large' });
    await again.waitFor();
    const staging = await (await fetch(`${suite.address}/staging`)).json();
    assert.deepEqual((staging as { items: unknown[] }).items, []);
    await session.send('Network.emulateNetworkConditions', { ...rates, uploadThroughput: -1 });
    await again.click();
    await page.locator('[data-source="split"]').filter({ hasText: 'large.txt' }).waitFor();
    await page.getByText('stored', { exact: true }).waitFor();
  });

  test('asks before the window is closed only while something could be lost', async (t) => {
    const { site } = suite;
    site.hold('/still');
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=still');
    await page.getByLabel('Addresses, one per line, or a text').fill(`${site.origin}/still`);
    await page.getByRole('button', { name: 'Add 1 source to still' }).click();
    await page.getByText('if the service stops now, this import is lost').waitFor();
    await idle(page);
    const question = page.waitForEvent('dialog');
    const closing = page.close({ runBeforeUnload: true });
    const dialog = await question;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    await closing;
    site.release('/still');
    await at(page, 'complete');
    await idle(page);
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
  });

  test('shows the job of an attempt that was stopped after the commit', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const documents = [{ text: 'The heron waits.' }];
    const job_id = await postJob(suite.address, { corpus_name: 'late', documents });
    // The response is faked, because the moment is too short to hit in a test.
    await page.route('**/attempt', async (route) => {
      const answer = await route.fetch();
      const json = { ...(await answer.json()), status: 'idle', sources: null, job_id };
      await route.fulfill({ response: answer, json });
    });
    await visit('/add?corpus=late');
    await page.getByText('Everything was stored before the stop').waitFor();
    await page.getByText('ready to search').first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'add-late-stop-light');
    await page.getByRole('link', { name: 'Open the job' }).click();
    await page.waitForURL(`**/#/jobs/${job_id}`);
    assert.deepEqual(complaints, []);
  });
});
