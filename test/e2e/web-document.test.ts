/** The page of a document: reader, marked words, originals, entities, and what can be done. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { writePdf } from '../support/pdf-writer.ts';
import { until } from '../support/wait.ts';
import { draw, findProblems, idle, openSuite, openView, postJob, settled } from './web-browser.ts';

const chunksOfBook = 2600;
const suite = openSuite({ fill: () => Promise.all([addBook(), addFiles()]).then(() => undefined) });

interface Listed {
  readonly items: readonly { readonly document_id: string; readonly source_url: string }[];
}

async function read<Body>(path: string): Promise<Body> {
  return (await fetch(`${suite.address}${path}`)).json() as Promise<Body>;
}

async function ended(job: string): Promise<void> {
  await (await fetch(`${suite.address}/jobs/${job}/stream`)).text();
}

/** Each part is a chunk of its own, because it has a heading of its own. */
async function addBook(): Promise<void> {
  const parts = Array.from(
    { length: chunksOfBook },
    (_, part) => `## Part ${part}\n\n${`The heron number${part} waits in the reeds. `.repeat(8)}`,
  );
  const birds = ['The bittern booms.', 'A bittern hides.'];
  parts[40] = `## Part 40\n\n${birds[0]}`;
  parts[2500] = `## Part 2500\n\n${birds[1]}\n\n\`\`\`shell\nkubectl drain \\\n  --force\n\`\`\``;
  const documents = [{ id: 'book', title: 'The book of herons', markdown: parts.join('\n\n') }];
  await ended(await postJob(suite.address, { corpus_name: 'books', documents }));
}

const met = 'The grey heron stands in the reeds, and Ada Lovelace met Charles Babbage in London. ';
const html = `<!doctype html><html><head><title>Reeds</title>
<script>parent.document.title = 'broken in'</script></head>
<body onload="alert(1)"><main><h1>Reeds</h1>
<p>${met.repeat(4)}</p>
<img src="/jobs" alt="a photo of reeds" onerror="alert(2)"><form action="/jobs"></form>
<table><tr><th>bird</th></tr><tr><td>heron</td></tr></table></main></body></html>`;

const pages = ['Contents of the manual', 'The valve is closed by hand', 'Spare parts for the pump'];

async function addFiles(): Promise<void> {
  const form = new FormData();
  form.set('corpus_name', 'files');
  form.append('file', new Blob([html]), 'reeds.html');
  form.append('file', new Blob([pdf()]), 'manual.pdf');
  form.append('file', new Blob(['# Notes\n\nOne note on herons.']), 'notes.md');
  const response = await fetch(`${suite.address}/jobs/upload`, { method: 'POST', body: form });
  await ended(((await response.json()) as { job_id: string }).job_id);
}

/** Pages that are long enough to be chunks of their own. */
function pdf(): Uint8Array<ArrayBuffer> {
  const contents = pages.map((title, page) => {
    const lines = Array.from({ length: 50 }, (_, line) => `(${lineOf(page, line)}) Tj T*`);
    return `BT /F1 10 Tf 12 TL 72 740 Td (${title}) Tj T* ${lines.join(' ')} ET`;
  });
  return new Uint8Array(writePdf(contents));
}

/** Only at the end of the last page, so its chunk begins on that page. */
const rare = 'gasket';

function lineOf(page: number, line: number): string {
  const part = page === 2 && line > 46 ? rare : `part ${line}`;
  return `On sheet ${page + 1} the line ${line} says what a person has to do with the ${part}.`;
}

async function idOf(corpus: string, name: string): Promise<string> {
  const { items } = await read<Listed>(`/corpora/${corpus}/documents`);
  const found = items.find(({ source_url }) => source_url.includes(name));
  assert.ok(found, `${name} among ${items.length}`);
  return found.document_id;
}

interface Found {
  readonly results: readonly { readonly chunk_id: string }[];
}

async function chunkOf(corpus: string, query: string): Promise<string> {
  const response = await fetch(`${suite.address}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ corpus_name: corpus, query, mode: 'keyword', top_k: 1 }),
  });
  const { results } = (await response.json()) as Found;
  assert.ok(results[0], query);
  return results[0].chunk_id;
}

const chosen = (page: Page) => page.locator('.chunk.chosen');

describe('the page of a document', () => {
  test('opens at a passage beyond the 2,500th, and steps through marked words', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const [id, chunk] = [await idOf('books', 'book'), await chunkOf('books', 'bittern hides')];
    await visit(`/documents/${id}?chunk=${chunk}&q=bittern`);
    await chosen(page).getByText('A bittern hides.').waitFor();
    await chosen(page).locator('mark').getByText('bittern', { exact: true }).waitFor();
    const [, number = ''] =
      /^Chunk (\d+)$/.exec((await chosen(page).getAttribute('aria-label')) ?? '') ?? [];
    assert.ok(Number(number) > 2500, number);
    assert.ok(await chosen(page).evaluate((one) => one.getBoundingClientRect().top > 0));
    assert.equal(await chosen(page).locator('pre').textContent(), 'kubectl drain \\\n  --force');
    await page.getByText('2 of 2 passages').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await chosen(page).getByText('The bittern booms.').waitFor();
    await page.getByText('1 of 2 passages').waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await chosen(page).getByText('A bittern hides.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('shows the title above an original, and no outline without headings', async (t) => {
    const { page, visit } = await openView(t, suite);
    const plain = [{ id: 'plain', title: 'Plain', text: 'The heron stands in the reeds.' }];
    await ended(await postJob(suite.address, { corpus_name: 'plain', documents: plain }));
    await visit(`/documents/${await idOf('files', 'reeds.html')}?tab=original`);
    await page.frameLocator('iframe').getByText('met Charles Babbage').first().waitFor();
    const title = page.getByRole('heading', { level: 1 });
    assert.ok(await title.evaluate((one) => one.getBoundingClientRect().top >= 0));
    await page.getByText('reeds.html', { exact: true }).waitFor();
    await visit(`/documents/${await idOf('plain', 'plain')}`);
    await page.getByRole('tabpanel').getByText('stands in the reeds').waitFor();
    await page.getByRole('navigation', { name: 'Outline' }).waitFor({ state: 'detached' });
  });

  test('has an outline that leads to any part, and views by key', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit(`/documents/${await idOf('books', 'book')}`);
    const outline = page.getByRole('navigation', { name: 'Outline' });
    await outline.getByRole('button', { name: 'More headings' }).click();
    await outline.getByRole('link', { name: 'Part 399', exact: true }).focus();
    await page.keyboard.press('Enter');
    await chosen(page).getByText('number399').first().waitFor();
    await page.getByRole('tab', { name: 'Reader' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=chunks/);
    await page.getByText('#400', { exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=original/);
    await page.getByText('## Part 0', { exact: false }).first().waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name: 'Versions' }).waitFor();
  });

  test('shows a PDF at the page of the passage', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const [id, chunk] = [await idOf('files', 'manual.pdf'), await chunkOf('files', rare)];
    await visit(`/documents/${id}?chunk=${chunk}&tab=original`);
    const frame = page.locator('iframe.original');
    await frame.waitFor();
    assert.match((await frame.getAttribute('src')) ?? '', /^blob:.*#page=3$/);
    // The viewer of the browser has opened the address.
    await until(async () => page.frames().some((one) => /^blob:.*#page=3$/.test(one.url())), {
      what: 'the viewer to open',
    });
    assert.deepEqual(complaints, []);
  });

  test('shows an original from its top, however far the text was scrolled', async (t) => {
    const { page, visit } = await openView(t, suite);
    const [id, chunk] = [await idOf('files', 'manual.pdf'), await chunkOf('files', rare)];
    // At the second time nothing has to be loaded, which would make the page short for a moment.
    await visit(`/documents/${id}?chunk=${chunk}&tab=original`);
    await page.locator('iframe.original').waitFor();
    await page.getByRole('tab', { name: 'Chunks' }).click();
    await page.locator('.chunk.chosen').waitFor();
    const scrolled = 'document.querySelector(".page").scrollTop';
    await until(async () => ((await page.evaluate(scrolled)) as number) > 400, {
      what: 'the passage to be scrolled to',
    });
    await page.getByRole('tab', { name: 'Original' }).click();
    await page.locator('iframe.original').waitFor();
    await idle(page);
    const top = (await page.locator('iframe.original').boundingBox())?.y ?? Number.NaN;
    assert.ok(top > 40 && top < 300, `the original begins at ${top}`);
  });

  test('shows a web page without its scripts, and loads nothing for it', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const asked: string[] = [];
    await visit(`/documents/${await idOf('files', 'reeds.html')}`);
    await page.getByText('The grey heron stands').first().waitFor();
    await settled(page);
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    page.on('dialog', (dialog) => {
      void dialog.dismiss();
      asked.push(`dialog ${dialog.message()}`);
    });
    await page.getByRole('tab', { name: 'Original' }).click();
    const frame = page.frameLocator('iframe.original');
    await frame.getByRole('heading', { name: 'Reeds' }).waitFor();
    await frame.getByText('a photo of reeds').waitFor();
    await frame.getByRole('cell', { name: 'heron' }).waitFor();
    assert.equal(await frame.locator('script, img, form, [onload], [onerror]').count(), 0);
    assert.equal(await page.locator('iframe.original').getAttribute('sandbox'), '');
    const id = await idOf('files', 'reeds.html');
    const own = [`/documents/${id}/raw`, '/favicon.svg'];
    assert.deepEqual(
      asked.filter((path) => !own.includes(path)),
      [],
    );
    assert.deepEqual(complaints, []);
  });

  test('shows what an entity occurs together with', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit(`/documents/${await idOf('files', 'reeds.html')}`);
    await page.getByRole('button', { name: /^Ada Lovelace/ }).click();
    const together = page.getByRole('region', { name: 'Together with Ada Lovelace' });
    await together.getByRole('img').waitFor();
    await together.getByRole('listitem').filter({ hasText: 'Charles Babbage' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
  });

  test('replaces an uploaded file after a question, under the same name', async (t) => {
    const { page, visit } = await openView(t, suite);
    const id = await idOf('files', 'notes.md');
    await visit(`/documents/${id}`);
    const buffer = Buffer.from('# Notes\n\nOne note on bitterns.');
    const other = { name: 'other.md', mimeType: 'text/markdown', buffer };
    await page.getByLabel('Replace file').setInputFiles(other);
    const question = page.getByRole('dialog');
    await question.getByText('becomes the new version of').waitFor();
    await question.getByRole('button', { name: 'Replace' }).click();
    await page.waitForURL(/#\/jobs\//);
    await page.getByText('ready to search').first().waitFor();
    await visit(`/documents/${id}`);
    await page.getByText('One note on bitterns.').waitFor();
    await page.getByText('version 2', { exact: true }).waitFor();
  });

  test('is deleted only after a question', async (t) => {
    const { page, visit } = await openView(t, suite);
    const documents = [{ id: 'gone', title: 'Gone', text: 'The heron that leaves.' }];
    await ended(await postJob(suite.address, { corpus_name: 'leaving', documents }));
    const id = await idOf('leaving', 'gone');
    const deleted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'DELETE') deleted.push(new URL(request.url()).pathname);
    });
    await visit(`/documents/${id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await idle(page);
    assert.deepEqual(deleted, []);
    assert.equal((await fetch(`${suite.address}/documents/${id}`)).status, 200);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The document was deleted.').waitFor();
    assert.deepEqual(deleted, [`/documents/${id}`]);
    assert.equal((await fetch(`${suite.address}/documents/${id}`)).status, 404);
  });

  test('is accessible in each view, in both themes and on a narrow screen', async (t) => {
    const { page, visit } = await openView(t, suite);
    const [id, chunk] = [await idOf('files', 'manual.pdf'), await chunkOf('files', rare)];
    const views = [
      ['reader', 'On sheet 3 the line'],
      ['chunks', '#1'],
      ['original', 'page 3'],
      ['history', 'Versions'],
    ] as const;
    const problems: string[] = [];
    for (const [tab, text] of views) {
      await visit(`/documents/${id}?chunk=${chunk}&q=gasket&tab=${tab}`);
      await page.locator(`#panel-${tab}`).getByText(text).first().waitFor();
      await settled(page);
      // The viewer of the browser paints its page at an unknown time.
      if (tab !== 'original') await draw(page, `document-${tab}`);
      problems.push(...(await findProblems(page)).map((problem) => `${tab}: ${problem}`));
    }
    assert.deepEqual(problems, []);
  });

  test('marks right-to-left text as such', async (t) => {
    const { page, visit } = await openView(t, suite);
    const documents = [{ id: 'rtl', title: 'مالك الحزين', text: 'يقف مالك الحزين في القصب.' }];
    await ended(await postJob(suite.address, { corpus_name: 'arabic', documents }));
    await visit(`/documents/${await idOf('arabic', 'rtl')}`);
    const text = page.locator('.chunk p').first();
    await text.waitFor();
    assert.equal(await text.evaluate((one) => one.matches(':dir(rtl)')), true);
  });
});
