/** Every page, in both themes and on a narrow screen: no axe violations, no overflow. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { until } from '../support/wait.ts';
import { draw, findViolations, openSuite, openView, postJob } from './web-browser.ts';

let pages: readonly (readonly [title: string, path: string, text: string])[];
const suite = openSuite({
  fill: async () => {
    pages = await fill();
  },
});

interface Listed {
  readonly items: readonly {
    readonly job_id: string;
    readonly item_id: number;
    readonly document_id: string;
    readonly title: string;
  }[];
}

async function ask(path: string): Promise<Listed> {
  return (await fetch(`${suite.address}${path}`)).json() as Promise<Listed>;
}

/** Uploaded as files, so that screenshots show no local path. Resolves when the job is done. */
async function uploadSamples(address: string): Promise<string> {
  const folder = fileURLToPath(new URL('../../samples/', import.meta.url));
  const names = globSync('**/*.*', { cwd: folder }).sort();
  return upload(
    address,
    'sample',
    names.map((name) => [name, readFileSync(join(folder, name))]),
  );
}

/** A file that can only be partly read. */
const scraps = ['scraps.ndjson', Buffer.from('{"a":"A heron."}\n{"a":\n{\n')] as const;

async function upload(
  address: string,
  corpus: string,
  files: readonly (readonly [name: string, content: Buffer<ArrayBuffer>])[],
): Promise<string> {
  const form = new FormData();
  form.set('corpus_name', corpus);
  for (const [name, content] of files) form.append('file', new Blob([content]), name);
  const response = await fetch(`${address}/jobs/upload`, { method: 'POST', body: form });
  const { job_id } = (await response.json()) as { job_id: string };
  await (await fetch(`${address}/jobs/${job_id}/stream`)).text();
  return job_id;
}

/** Creates a finished, a running and a failed job; returns the addresses of all pages. */
async function fill(): Promise<typeof pages> {
  const { address, site } = suite;
  const sample = await uploadSamples(address);
  await upload(address, 'scraps', [scraps]);
  site.break('/lost');
  site.hold('/slow');
  const urls = (names: readonly string[]) => names.map((name) => `${site.origin}${name}`);
  const lost = await postJob(address, { corpus_name: 'news', urls: urls(['/lost/1', '/lost/2']) });
  const blank = [{ id: 'blank', title: 'Blank', text: '  ' }];
  await postJob(address, { corpus_name: 'notes', documents: blank });
  await until(async () => /"failed"/.test(JSON.stringify(await ask(`/jobs/${lost}`))), {
    what: 'the lost pages to fail',
  });
  const moving = await postJob(address, {
    corpus_name: 'news',
    urls: urls(['/one', '/two', '/slow/three', '/slow/four', '/five']),
  });
  const first = (await ask(`/jobs/${moving}/items`)).items[0]?.item_id ?? 0;
  const { items: documents } = await ask('/corpora/sample/documents');
  const [partly] = (await ask('/corpora/scraps/documents')).items;
  const document = documents.find(({ title }) => title === 'Returns and refunds');
  const query = encodeURIComponent('refund for a late delivery');
  return [
    ['jobs', '/jobs', 'Could not fetch the URL. Check that it is accessible.'],
    ['jobs-none', '/jobs?status=canceled', 'No job matches the filter'],
    ['job', `/jobs/${sample}?item=5`, 'Result'],
    ['job-moving', `/jobs/${moving}?item=${first + 2}`, 'Result'],
    ['job-failed', `/jobs/${lost}`, '2 documents: The site answered 404'],
    ['job-events', `/jobs/${sample}?tab=events`, 'job succeeded'],
    ['job-item-events', `/jobs/${sample}?tab=events&item=5`, 'events of document 5'],
    ['job-lifecycle', `/jobs/${moving}?tab=lifecycle`, 'Documents'],
    ['job-unknown', '/jobs/nothing', 'No such job'],
    ['search', `/search?corpus=sample&q=${query}&explain=true`, 'How long a refund takes'],
    ['search-empty', '/search?corpus=sample', 'Search sample'],
    ['inbox', '/inbox', 'The site answered 404'],
    ['add', '/add', 'Addresses, one per line'],
    ['corpora', '/corpora', 'Updated'],
    ['corpus', '/corpora/sample', 'Returns and refunds'],
    ['document', `/documents/${document?.document_id}`, 'version 1'],
    ['corpus-partly-read', '/corpora/scraps?partly_read=true', '33 % kept'],
    ['document-partly-read', `/documents/${partly?.document_id}`, 'Partly read: 33 %'],
    ['system', '/system', 'Crawl limits'],
  ];
}

/** Waits until the page has loaded all its content. */
async function settle(page: Page, text: string): Promise<void> {
  await page.getByRole('main').getByText(text).first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

const views = [
  { name: 'light', colorScheme: 'light', width: 1280 },
  { name: 'dark', colorScheme: 'dark', width: 1280 },
  { name: 'narrow', colorScheme: 'light', width: 390 },
] as const;

const drawnTwice = ['jobs', 'job', 'search', 'inbox'];
const isDrawn = (title: string, view: string): boolean =>
  view === 'light' || drawnTwice.includes(title);

describe('every page', () => {
  for (const { name, colorScheme, width } of views) {
    test(`is accessible and fits, ${name}`, async (t) => {
      const options = { width, colorScheme };
      const { page, visit, complaints } = await openView(t, suite, options);
      const problems: string[] = [];
      for (const [title, path, text] of pages) {
        await visit(path);
        await settle(page, text);
        const violations = await findViolations(page);
        problems.push(...violations.map((violation) => `${title}: ${violation}`));
        const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        if (wide > width) problems.push(`${title} is ${wide} wide, on a screen of ${width}`);
        if (isDrawn(title, name)) await draw(page, `${title}-${name}`);
      }
      assert.deepEqual(problems, []);
      assert.deepEqual(complaints, []);
    });
  }

  test('of a corpus filters partly read documents, by key', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/corpora/scraps');
    const filter = page.getByRole('button', { name: 'Partly read (1)' });
    await filter.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/partly_read=true/);
    assert.equal(await filter.getAttribute('aria-pressed'), 'true');
    await page.getByRole('link', { name: /scraps\.ndjson/ }).click();
    const part = page.getByRole('region', { name: 'Unread parts' });
    await part.getByText('2 of 3 lines were not read: not valid JSON.').waitFor();
    await part.getByText("pawl extract 'scraps.ndjson' --dropped").waitFor();
    await visit('/corpora/sample');
    await page.getByRole('link', { name: /Returns and refunds/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Partly read/ }).count(), 0);
  });

  test('of a document links to its own events, and back to all events', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit(pages.find(([title]) => title === 'job')?.[1] ?? '');
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText('events of document 5').waitFor();
    const texts = await page.locator('[data-seq]').allInnerTexts();
    assert.ok(texts.length > 3 && texts.every((text) => /document 5\b/.test(text)), texts.join());
    await page.getByRole('button', { name: 'Show events of all documents' }).click();
    await page.getByText(/^\d+ events, newest first\.$/).waitFor();
    await page
      .locator('[data-seq]')
      .filter({ hasText: /document (?!5\b)/ })
      .first()
      .waitFor();
  });

  test('follows the dark theme of the system, and a switch overrides it', async (t) => {
    const { page, visit } = await openView(t, suite, { colorScheme: 'dark' });
    await visit('/jobs');
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    assert.equal(await theme(), 'dark');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    assert.equal(await theme(), 'light');
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    assert.equal(await theme(), 'light');
  });
});
