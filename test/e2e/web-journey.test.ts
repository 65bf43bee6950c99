/** User journeys through the workbench. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until, untilEqual } from '../support/wait.ts';
import { findProblems, openSuite, openView, postJob } from './web-browser.ts';

/** The first test starts with an empty store; each of the others uses its own corpus. */
const suite = openSuite();

const files = [
  { name: 'cat.md', text: '# The cat\n\nThe cat sleeps on the harmonium in the afternoon.' },
  { name: 'dog.txt', text: 'The dog guards the gate and barks at the postman every morning.' },
  {
    name: 'evil.html',
    text: '<title>Evil</title><p>The parrot says &lt;img src=x onerror=a()&gt;',
  },
].map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));

describe('the workbench', () => {
  test('adds files, shows them become searchable, and opens a result', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/jobs');
    await page.getByText('No jobs yet').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Add documents' }).first().click();
    await page.getByLabel('Name of the new corpus').fill('pets');
    const empty = { name: 'empty.md', mimeType: 'text/plain', buffer: Buffer.from('') };
    await page.getByLabel('Choose files').setInputFiles([...files, empty]);
    const preflight = page.locator('[data-preflight] li');
    await untilEqual(() => preflight.count(), 4);
    await preflight.filter({ hasText: /skippedempty\.mdis empty/ }).waitFor();
    await page.getByRole('button', { name: 'Add 3 sources to pets' }).click();
    await page.locator('[data-attempt="complete"]').waitFor();
    await page.getByText('ready to search').first().waitFor();
    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await page.getByRole('searchbox').fill('harmonium afternoon');
    const hit = page.locator('.hit').first();
    await hit.getByRole('link', { name: 'The cat' }).waitFor();
    await untilEqual(() => hit.locator('mark').allInnerTexts(), ['harmonium', 'afternoon']);
    await page.waitForURL(/#\/search\?.*q=harmonium/);
    await hit.getByRole('link', { name: 'The cat' }).click();
    const reader = page.getByRole('tabpanel', { name: 'Reader' });
    await reader.locator('.chunk.chosen').getByText('sleeps on the harmonium').waitFor();
    await page.getByText('version 1', { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('asks before a page is left only if something would be lost', async (t) => {
    const { page, visit } = await openView(t, suite);
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await visit('/add');
    await page.getByLabel('Addresses, one per line, or a text').fill('https://example.org/kept');
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Add' }).click();
    await page.getByText('https://example.org/kept').first().waitFor();
    assert.deepEqual(asked, []);
    await page.getByLabel('Choose files').setInputFiles(files);
    const question = page.waitForEvent('dialog');
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    assert.match((await question).message(), /have not been sent/);
    await page.getByRole('heading', { name: 'Add documents' }).waitFor();
    assert.equal(asked.length, 1);
  });

  test('shows the text of a document as text, never as markup', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const text = '<script>x()</script> <img src=x onerror=x()> sings the parrot';
    const documents = [{ id: 'p', title: text, text }];
    await postJob(suite.address, { corpus_name: 'parrots', documents });
    await visit('/search?corpus=parrots&q=parrot');
    await page.locator('.hit').first().getByText('<script>x()</script>').first().waitFor();
    assert.equal(await page.locator('.hit img, .hit script').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('shows failures with advice, and retries them after a fix', async (t) => {
    const { site } = suite;
    site.break('/lost');
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/add?corpus=news');
    await page
      .getByLabel('Addresses, one per line, or a text')
      .fill(`${site.origin}/lost\nnot an address`);
    await page.getByText('one address per line, without spaces').waitFor();
    await page.getByRole('button', { name: 'Add 1 source to news' }).waitFor();
    await page.getByRole('button', { name: 'Add in background' }).click();
    await page.getByText('Could not fetch the URL. Check that it is accessible.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: /Inbox/ }).click();
    await page.locator('.cause').getByText('http_404').first().waitFor();
    await page.locator('[id^="item "]').first().click();
    await page.getByRole('link', { name: 'All tries, step by step' }).waitFor();
    site.mend('/lost');
    await page.getByRole('button', { name: 'Retry', exact: true }).first().click();
    await page.getByText('Retrying 1 document').waitFor();
    await page.getByText('No failed documents').waitFor();
    await visit('/jobs?corpus_name=news');
    await page.getByText('ready to search').first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('fixes an address, or replaces a file, in its place in the inbox', async (t) => {
    const { site, address } = suite;
    site.break('/mistyped');
    const long = `${site.origin}/mistyped/with/a/long/path/that/does/not/fit/on/a/phone`;
    await postJob(address, { corpus_name: 'fixed', urls: [long] });
    const form = new FormData();
    form.set('corpus_name', 'fixed');
    form.append('file', new Blob([' ']), 'note.md');
    await fetch(`${address}/jobs/upload`, { method: 'POST', body: form });
    const { page, visit, complaints } = await openView(t, suite, { width: 390 });
    await visit('/inbox?corpus=fixed');
    await page.getByText('2 documents', { exact: true }).waitFor();
    for (const cause of await page.locator('[id^="cause "][aria-expanded="false"]').all()) {
      await cause.click();
    }
    const wrong = page.getByRole('button', { name: long.replace('http://', '') });
    const box = await wrong.boundingBox();
    assert.ok(box && box.height > 25, 'a long address has one line, and loses its end');
    await wrong.click();
    assert.deepEqual(await findProblems(page), []);
    await page.getByLabel('Correct the address').fill(`${site.origin}/right`);
    await page.getByRole('button', { name: 'Add this instead' }).click();
    await page.getByText('1 document', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'note.md' }).click();
    const better = { name: 'other.md', mimeType: 'text/markdown', buffer: Buffer.from('A heron.') };
    await page.getByLabel('Replace the file').setInputFiles(better);
    await page.getByText('No failed documents').waitFor();
    const sources = async (): Promise<string> => {
      const { items } = (await (await fetch(`${address}/corpora/fixed/documents`)).json()) as {
        items: { source_url: string }[];
      };
      return items
        .map(({ source_url }) => source_url)
        .sort()
        .join(' ');
    };
    await until(async () => (await sources()) === `${site.origin}/right upload:note.md`, {
      what: 'both documents to be indexed',
    });
    assert.deepEqual(complaints, []);
  });

  test('offers to undo a discard, and sends it otherwise', async (t) => {
    const { address } = suite;
    const documents = [
      { id: 'nothing', text: ' ' },
      { id: 'nil', text: '\n' },
    ];
    await postJob(address, { corpus_name: 'blanks', documents });
    const { page, visit } = await openView(t, suite);
    await page.clock.install();
    await visit('/inbox');
    const entries = page.locator('[id^="item "]');
    await entries.nth(1).waitFor();
    await page.getByText('2 documents', { exact: true }).waitFor();
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 60_000);
    await page.locator('.entry').first().getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await entries.nth(1).waitFor();
    await page.locator('.entry').first().getByRole('button', { name: 'Discard' }).click();
    await page.getByText('1 document', { exact: true }).waitFor();
    // The count leaves it out at once. It is sent when it cannot be undone any more.
    const count = async (): Promise<number | undefined> => {
      const { causes } = (await (await fetch(`${address}/inbox`)).json()) as {
        causes: { count: number }[];
      };
      return causes[0]?.count;
    };
    assert.equal(await count(), 2);
    await page.clock.resume();
    await untilEqual(count, 1);
  });

  test('pauses, resumes and cancels, each with a confirmation', async (t) => {
    const { site, address } = suite;
    site.hold('/slow');
    const urls = ['/fast', '/slow/1', '/slow/2', '/slow/3'].map((path) => site.origin + path);
    const id = await postJob(address, { corpus_name: 'paused', urls });
    const { page, visit, complaints } = await openView(t, suite);
    await visit(`/jobs/${id}`);
    await page.locator('[data-tile="Ready"]').getByText('1 of 4').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('No document moves until you resume').waitFor();
    await page.getByText('Paused', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('continues from its last step').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByText(/Stopped: 3 documents\. Kept: 1 document with 1 chunk/).waitFor();
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
    site.release('/slow');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('Retrying 3 documents').waitFor();
    await page.getByText('4 of 4').waitFor();
    assert.deepEqual(complaints, []);
  });
});
