/**
 * Every page of the router, in both themes, wide, narrow and at twice the size: no axe violations,
 * no overflow, and `/` reaches a search field.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { until, untilEqual } from '../support/wait.ts';
import {
  draw,
  findViolations,
  idle,
  openSuite,
  openView,
  postJob,
  settled,
} from './web-browser.ts';

/** Without a text, the page is ready when its heading is there. */
type Shown = readonly [title: string, path: string, text?: string];

let pages: readonly Shown[];
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
async function fill(): Promise<readonly Shown[]> {
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
  return withOtherRoutes([
    ['home', '/', 'Corpora'],
    ['jobs', '/jobs', '2 documents failed, none is ready'],
    ['jobs-none', '/jobs?status=canceled', 'No job matches the filter'],
    ['job', `/jobs/${sample}?item=5`, 'Result'],
    ['job-moving', `/jobs/${moving}?item=${first + 2}`, '/slow/three'],
    ['job-failed', `/jobs/${lost}`, '2 documents: The site answered 404'],
    ['job-events', `/jobs/${sample}?tab=events`, 'job succeeded'],
    ['job-item-events', `/jobs/${sample}?tab=events&item=5`, 'events of document 5'],
    ['job-unknown', '/jobs/nothing', 'No such job'],
    ['search', `/search?corpus=sample&q=${query}&explain=true`, 'How long a refund takes'],
    ['search-empty', '/search?corpus=sample', 'Search sample'],
    ['inbox', '/inbox', 'The site answered 404'],
    ['add', '/add', 'Choose a folder'],
    ['corpora', '/corpora', 'Updated'],
    ['corpus', '/corpora/sample', 'Returns and refunds'],
    ['document', `/documents/${document?.document_id}`, 'version 1'],
    ['corpus-partly-read', '/corpora/scraps?partly_read=true', '33 % kept'],
    ['document-partly-read', `/documents/${partly?.document_id}`, 'Partly read: 33 %'],
    ['batch-task-unknown', '/batch/nothing', 'No such'],
    ['health', '/system', 'All systems normal'],
  ]);
}

const routes = [
  ...readFileSync(new URL('../../web/router.tsx', import.meta.url), 'utf8').matchAll(
    /^ {2}path: '([^']+)'/gm,
  ),
].map(([, path = '']) => path);

/** A route that the list lacks is shown as it is, so that no page is left out. */
function withOtherRoutes(listed: readonly Shown[]): readonly Shown[] {
  assert.ok(routes.length > 10, `the router has ${routes.join()}`);
  const others = routes
    .filter((route) => !listed.some(([, path]) => isOf(route, path)))
    .map((route): Shown => {
      const path = route.replaceAll('$name', 'sample');
      assert.doesNotMatch(path, /\$/, `add a page with the route ${route} to the list`);
      return [path.slice(1).replaceAll('/', '-'), path];
    });
  return [...listed, ...others];
}

function isOf(route: string, path: string): boolean {
  const pattern = route.replace(/\$\w+/g, '[^/?]+');
  return new RegExp(`^${pattern}$`).test(path.split('?')[0] ?? '');
}

/** Waits until the page has loaded all its content. */
async function settle(page: Page, text: string | undefined): Promise<void> {
  const main = page.getByRole('main');
  await (text === undefined ? main.locator('h1') : main.getByText(text)).first().waitFor();
  await settled(page);
}

const views = [
  { name: 'light', colorScheme: 'light', width: 1280 },
  { name: 'dark', colorScheme: 'dark', width: 1280 },
  { name: 'narrow', colorScheme: 'light', width: 390 },
  { name: 'narrow-dark', colorScheme: 'dark', width: 390 },
  { name: 'doubled', colorScheme: 'light', width: 640 },
] as const;

/** The first page of each route is drawn, unless other tests draw it with more content. */
function isDrawn([title, path]: Shown): boolean {
  const route = routes.find((one) => isOf(one, path)) ?? '';
  const [first] = pages.filter(([, other]) => isOf(route, other));
  return first?.[0] === title && !route.startsWith('/batch') && title !== 'sources-sample';
}

describe('every page', () => {
  for (const { name, colorScheme, width } of views) {
    test(`is accessible and fits, ${name}`, async (t) => {
      const options = { width, colorScheme };
      const { page, visit, complaints } = await openView(t, suite, options);
      const problems: string[] = [];
      for (const shown of pages) {
        const [title, path, text] = shown;
        await visit(path);
        await settle(page, text);
        const violations = await findViolations(page);
        problems.push(...violations.map((violation) => `${title}: ${violation}`));
        const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        if (wide > width) problems.push(`${title} is ${wide} wide, on a screen of ${width}`);
        if (name !== 'doubled' && isDrawn(shown)) await draw(page, `${title}-${name}`);
      }
      assert.deepEqual(problems, []);
      assert.deepEqual(complaints, []);
    });
  }

  test('gives the focus to a search field on /', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    for (const [title, path, text] of pages) {
      await visit(path);
      await settle(page, text);
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('/');
      const field = page.locator('input[type="search"]:focus');
      await field.waitFor().catch((error: unknown) => {
        throw new Error(`/ does nothing on the page ${title}`, { cause: error });
      });
      const before = await field.inputValue();
      await page.keyboard.type('x');
      assert.ok((await field.inputValue()).startsWith(before), title);
    }
    assert.deepEqual(complaints, []);
  });

  test('of a corpus filters partly read documents, by key', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/corpora/scraps');
    const filter = { name: 'Partly read (1)' };
    await page.getByRole('button', { ...filter, pressed: false }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/partly_read=true/);
    await page.getByRole('button', { ...filter, pressed: true }).waitFor();
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
    await page.locator('[data-seq]').nth(3).waitFor();
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

  test('names every failed document of the inbox, and why it failed', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/inbox');
    for (const name of [/\/lost\/1$/, /\/lost\/2$/, /^inline:blank$/]) {
      await page.getByRole('button', { name }).waitFor();
    }
    await visit(pages.find(([title]) => title === 'job-failed')?.[1] ?? '');
    const row = page.getByRole('button', { name: /\/lost\/1/ });
    await row.getByText(/answered 404$/).waitFor();
  });

  test('follows the dark theme of the system, and a switch overrides it', async (t) => {
    const { page, visit } = await openView(t, suite, { colorScheme: 'dark' });
    await visit('/jobs');
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    assert.equal(await theme(), 'dark');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await untilEqual(theme, 'light');
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    await idle(page);
    assert.equal(await theme(), 'light');
  });
});
