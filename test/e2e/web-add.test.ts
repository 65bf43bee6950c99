/** Adding folders in a real Chromium. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryDirectory } from '../support/temporary.ts';
import { draw, findProblems, findViolations, openSuite, openView, postJob } from './web-browser.ts';

const suite = openSuite();

async function documentsOf(corpus: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const page = `${suite.address}/corpora/${corpus}/documents?limit=200${cursor}`;
    const answer = (await (await fetch(page)).json()) as {
      items: { source_url: string }[];
      next_cursor: string | null;
    };
    found.push(...answer.items.map(({ source_url }) => source_url));
    if (answer.next_cursor === null) return found.sort();
    cursor = `&cursor=${encodeURIComponent(answer.next_cursor)}`;
  }
}

const complete = (page: Page) => page.locator('[data-attempt="complete"]').waitFor();

describe('adding', () => {
  test('a folder of 500 files with equal names adds them all, with their paths', async (t) => {
    const folder = join(temporaryDirectory(t), 'handbook');
    const paths = Array.from({ length: 100 }, (_, part) =>
      ['_index.md', 'a.md', 'b.md', 'c.md', 'd.md'].map((name) => `part-${part}/${name}`),
    ).flat();
    for (const path of paths) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), `# ${path}\n\nThe chapter ${path} is about herons.\n`);
    }
    writeFileSync(join(folder, 'empty.md'), '');
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, '.git/config'), 'hidden');
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/add?corpus=handbook');
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByLabel('Choose a folder').setInputFiles(folder);
    await page.locator('[data-group="ready"]').getByText('500 ready').waitFor();
    const groups = page.locator('[data-preflight] summary');
    assert.deepEqual((await groups.allInnerTexts()).map((text) => text.split('\n')[0]).sort(), [
      '1 empty',
      '1 hidden',
      '500 ready',
    ]);
    const button = page.getByRole('button', { name: 'Add 500 sources to handbook' });
    assert.ok(await isInWindow(page, 'Add 500 sources to handbook'), 'the button is out of sight');
    await page.locator('[data-group="ready"] summary').click();
    await page.locator('[data-group="ready"] .list-row').first().waitFor();
    assert.deepEqual(await findViolations(page), []);
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'add-folder-light');
    await button.click();
    await complete(page);
    await page.getByText('500 of 500').or(page.getByText('ready to search')).first().waitFor();
    assert.deepEqual(
      await documentsOf('handbook'),
      paths.map((path) => `upload:handbook/${path}`).sort(),
    );
    assert.deepEqual(complaints, []);
  });

  test('a source that failed for one corpus is not offered for another', async (t) => {
    const { site } = suite;
    site.break('/absent');
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=first');
    await page.getByLabel('Addresses, one per line').fill(`${site.origin}/absent`);
    await page.getByRole('button', { name: 'Add 1 source to first' }).click();
    await page.locator('[data-source="refused"]').getByText('http_404').waitFor();
    await visit('/add?corpus=second');
    await page.getByLabel('Addresses, one per line').fill(`${site.origin}/heron`);
    await page.getByRole('button', { name: 'Add 1 source to second' }).click();
    await complete(page);
    assert.deepEqual(await documentsOf('second'), [`${site.origin}/heron`]);
    await visit('/add?corpus=first');
    await page.getByRole('button', { name: 'Add 1 source to first' }).waitFor();
  });
});

describe('a long document', () => {
  test('opens at a chunk far from its start, and shows what is before it', async (t) => {
    const parts = Array.from(
      { length: 900 },
      (_, index) => `## Part ${index}\n\n${`The heron number${index} waits. `.repeat(40)}`,
    );
    const { page, visit } = await openView(t, suite);
    const documents = [{ id: 'book', title: 'Book', text: parts.join('\n\n') }];
    const job = await postJob(suite.address, { corpus_name: 'books', documents });
    await visit(`/jobs/${job}`);
    await page.getByText('ready to search').first().waitFor();
    await visit('/search?corpus=books&q=number850&mode=keyword');
    await page.locator('.hit a').first().click();
    const chosen = page.locator('.chunk.chosen');
    await chosen.getByText('number850').first().waitFor();
    assert.ok(await chosen.evaluate((chunk) => chunk.getBoundingClientRect().top > 0));
    const before = page.getByRole('button', { name: 'Show earlier chunks' });
    const label = (await page.locator('.chunk').first().getAttribute('aria-label')) ?? '';
    const [, number = ''] = /^Chunk (\d+)$/.exec(label) ?? [];
    await before.click();
    await page.getByLabel(`Chunk ${Number(number) - 1}`, { exact: true }).waitFor();
  });
});

async function isInWindow(page: Page, name: string): Promise<boolean> {
  const box = await page.getByRole('button', { name }).boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
