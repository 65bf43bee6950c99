/** What people do with the workbench, from beginning to end. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchBrowser, openView, postJob, serve } from './web-browser.ts';
import { openSite } from './web-site.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

const files = [
  { name: 'cat.md', text: '# The cat\n\nThe cat sleeps on the harmonium in the afternoon.' },
  { name: 'dog.txt', text: 'The dog guards the gate and barks at the postman every morning.' },
  {
    name: 'evil.html',
    text: '<title>Evil</title><p>The parrot says &lt;img src=x onerror=a()&gt;',
  },
].map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));

describe('the workbench', () => {
  test('takes files, shows them become searchable, and opens what it finds', async (t) => {
    const { address } = await serve(t);
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit('/jobs');
    await page.getByText('Nothing has been submitted yet').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Add documents' }).first().click();
    await page.getByLabel('Name of the new corpus').fill('pets');
    await page.getByRole('tab', { name: 'Files' }).click();
    const empty = { name: 'empty.md', mimeType: 'text/plain', buffer: Buffer.from('') };
    await page.getByLabel('choose them').setInputFiles([...files, empty]);
    const preflight = page.locator('[data-preflight] li');
    assert.equal(await preflight.count(), 4);
    assert.match((await preflight.nth(3).textContent()) ?? '', /left outempty\.mdis empty/);
    await page.getByRole('button', { name: 'Add 3 files to pets' }).click();
    await page.getByText('Document indexed — ready to search').waitFor();
    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await page.getByRole('searchbox').fill('harmonium afternoon');
    const hit = page.locator('.hit').first();
    await hit.getByRole('link', { name: 'The cat' }).waitFor();
    assert.deepEqual(await hit.locator('mark').allInnerTexts(), ['harmonium', 'afternoon']);
    assert.match(page.url(), /#\/search\?.*q=harmonium/);
    await hit.getByRole('link', { name: 'The cat' }).click();
    await page.locator('.chunk.chosen').getByText('sleeps on the harmonium').waitFor();
    await page.getByText('generation 1', { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('asks before it is left only when something would be lost', async (t) => {
    const { address } = await serve(t);
    const { page, visit } = await openView(t, { browser, address });
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await visit('/add');
    await page.getByLabel('Addresses, one for each line').fill('https://example.org/kept');
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Add' }).click();
    await page.getByText('https://example.org/kept').first().waitFor();
    assert.deepEqual(asked, []);
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByLabel('choose them').setInputFiles(files);
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Add documents' }).waitFor();
    assert.match(asked.join(), /have not been sent/);
  });

  test('shows the text of a document as text, whatever it says', async (t) => {
    const { address } = await serve(t);
    const { page, visit, complaints } = await openView(t, { browser, address });
    const text = '<script>x()</script> <img src=x onerror=x()> sings the parrot';
    await postJob(address, { corpus_name: 'a', documents: [{ id: 'p', title: text, text }] });
    await visit('/search?q=parrot');
    await page.locator('.hit').first().getByText('<script>x()</script>').first().waitFor();
    assert.equal(await page.locator('.hit img, .hit script').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('shows what failed with advice, and retries it when it has been mended', async (t) => {
    const site = await openSite(t);
    site.break('/lost');
    const { address } = await serve(t, { environment: { PAWL_ALLOW_HOSTS: site.host } });
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit('/add');
    await page.getByLabel('Name of the new corpus').fill('news');
    await page
      .getByLabel('Addresses, one for each line')
      .fill(`${site.origin}/lost\nnot an address`);
    await page.getByText('one address for each line, without spaces').waitFor();
    await page.getByRole('button', { name: 'Add 1 address to news' }).click();
    await page.getByText('Could not fetch the URL. Check that it is accessible.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: /Inbox/ }).click();
    await page.getByText('http_404').first().waitFor();
    await page.locator('[id^="item "]').first().click();
    await page.getByRole('link', { name: 'Every attempt, step by step' }).waitFor();
    site.mend('/lost');
    await page.getByRole('button', { name: 'Retry', exact: true }).first().click();
    await page.getByText('1 document will be tried again').waitFor();
    await page.getByText('Nothing has failed').waitFor();
    await visit('/jobs');
    await page.getByText('Document indexed — ready to search').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('lets a discard be undone, and sends it when it was not', async (t) => {
    const { address } = await serve(t);
    const documents = [
      { id: 'nothing', text: ' ' },
      { id: 'nil', text: '\n' },
    ];
    await postJob(address, { corpus_name: 'a', documents });
    const { page, visit } = await openView(t, { browser, address });
    await visit('/inbox');
    const entries = page.locator('[id^="item "]');
    await entries.nth(1).waitFor();
    await page.locator('.entry').first().getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await entries.nth(1).waitFor();
    await page.locator('.entry').first().getByRole('button', { name: 'Discard' }).click();
    await page.getByText('1 document', { exact: true }).waitFor();
    const { causes } = (await (await fetch(`${address}/inbox`)).json()) as {
      causes: { count: 1 }[];
    };
    assert.equal(causes[0]?.count, 1);
  });

  test('pauses, resumes and cancels, each with its receipt', async (t) => {
    const site = await openSite(t);
    site.hold('/slow');
    const { address } = await serve(t, { environment: { PAWL_ALLOW_HOSTS: site.host } });
    const urls = ['/fast', '/slow/1', '/slow/2', '/slow/3'].map((path) => site.origin + path);
    const id = await postJob(address, { corpus_name: 'news', urls });
    const { page, visit, complaints } = await openView(t, { browser, address });
    await visit(`/jobs/${id}`);
    await page.getByText('1 of 4').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('Every document stays where it is').waitFor();
    await page.getByText('Paused', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('goes on from where it was').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByText(/Stopped: 3 documents\. Kept: 1 document with 1 chunk/).waitFor();
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
    site.release('/slow');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('3 documents will be tried again').waitFor();
    await page.getByText('4 of 4').waitFor();
    assert.deepEqual(complaints, []);
  });
});
