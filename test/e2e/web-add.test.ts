/** Adding folders in a real Chromium. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryDirectory } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';
import { untilEqual } from '../support/wait.ts';
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

/** The page may still show the end of an earlier import, so its text is no sign of this one. */
async function untilDocuments(corpus: string, expected: readonly string[]): Promise<void> {
  await untilEqual(() => documentsOf(corpus), [...expected]);
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
    await page.getByLabel('Choose a folder').setInputFiles(folder);
    await page.locator('[data-group="ready"]').getByText('500 ready').waitFor();
    const groups = page.locator('[data-preflight] summary');
    const names = async () =>
      (await groups.allInnerTexts()).map((text) => text.split('\n')[0]).sort();
    await untilEqual(names, ['1 empty', '1 hidden', '500 ready']);
    const button = page.getByRole('button', { name: 'Add 500 sources to handbook' });
    assert.ok(await isInWindow(page, 'Add 500 sources to handbook'), 'the button is out of sight');
    await page.locator('[data-group="ready"] summary').click();
    await page.locator('[data-group="ready"] .list-row').first().waitFor();
    assert.deepEqual(await findViolations(page), []);
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'add-folder-light');
    await button.click();
    await complete(page);
    await untilDocuments('handbook', paths.map((path) => `upload:handbook/${path}`).sort());
    assert.deepEqual(complaints, []);
  });

  test('a source that failed for one corpus is not offered for another', async (t) => {
    const { site } = suite;
    site.break('/absent');
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=first');
    await page.getByLabel('Addresses, one per line, or a text').fill(`${site.origin}/absent`);
    await page.getByRole('button', { name: 'Add 1 source to first' }).click();
    await page.locator('[data-source="refused"]').getByText('http_404').waitFor();
    await visit('/add?corpus=second');
    await page.getByLabel('Addresses, one per line, or a text').fill(`${site.origin}/heron`);
    await page.getByRole('button', { name: 'Add 1 source to second' }).click();
    await untilDocuments('second', [`${site.origin}/heron`]);
    await visit('/add?corpus=first');
    await page.getByRole('button', { name: 'Add 1 source to first' }).waitFor();
  });
});

describe('without a chosen corpus', () => {
  test('nothing can be sent before the corpora are read, and then the choice stays', async (t) => {
    const { page, visit } = await openView(t, suite);
    const text = { text: 'The heron waits.' };
    await postJob(suite.address, { corpus_name: 'b-first', documents: [text] });
    await untilEqual(async () => (await documentsOf('b-first')).length, 1);
    const answers = makeLatch();
    await page.route(/\/corpora\?/, async (route) => {
      await answers.opened;
      await route.continue();
    });
    await visit('/add');
    await page.getByLabel('Addresses, one per line, or a text').fill('A grey heron waits.');
    await page.getByText('enter a name for the corpus').waitFor();
    assert.ok(await page.locator('.add-foot .button.primary').isDisabled());
    answers.open();
    const button = page.getByRole('button', { name: 'Add 1 source to b-first' });
    await button.waitFor();
    await postJob(suite.address, { corpus_name: 'a-before', documents: [text] });
    const menu = page.getByRole('combobox', { name: 'Corpus' });
    await menu.getByText('a-before').waitFor({ state: 'attached' });
    assert.equal(await menu.inputValue(), 'b-first');
    await button.waitFor();
  });
});

describe('one box', () => {
  const box = (page: Page) => page.getByLabel('Addresses, one per line, or a text');

  test('takes a text, whose title is its first line', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/add?corpus=notes');
    await box(page).fill('# Herons at the weir\n\nThey wait for hours until a fish comes by.');
    assert.equal(await page.getByLabel('Title').inputValue(), 'Herons at the weir');
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole('button', { name: 'Add 1 source to notes' }).click();
    await untilDocuments('notes', ['upload:Herons at the weir.md']);
    assert.deepEqual(complaints, []);
  });

  test('takes an address as a page, as a whole site, or to keep in sync', async (t) => {
    const { site } = suite;
    site.serve(
      '/docs/',
      '<main><h1>Docs</h1><a href="/docs/a">a</a> <a href="/docs/b">b</a></main>',
    );
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/add?corpus=docs');
    await box(page).fill(`${site.origin}/docs/`);
    await page.getByRole('button', { name: 'Whole site' }).click();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole('button', { name: 'Add the site to docs' }).click();
    await page.getByText('3 of 3').waitFor();
    await untilDocuments(
      'docs',
      ['', 'a', 'b'].map((name) => `${site.origin}/docs/${name}`),
    );
    await visit('/add?corpus=followed');
    await box(page).fill(`${site.origin}/one\n${site.origin}/two`);
    await page.getByLabel('Keep in sync').check();
    await page.getByLabel('Compare').selectOption('Every hour');
    await page.getByRole('button', { name: 'Keep followed in sync' }).click();
    await page.locator('[data-run="succeeded"]').getByText('2 added').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('says how a chosen folder can be followed', async (t) => {
    const folder = join(temporaryDirectory(t), 'my notes');
    mkdirSync(folder);
    writeFileSync(join(folder, 'heron.md'), 'A heron.');
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=notes');
    await page.getByLabel('Choose a folder').setInputFiles(folder);
    await page.getByLabel('Keep in sync').check();
    await page.getByText("pawl watch ./'my notes' --corpus notes").waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('link', { name: 'add the folder as a source' }).click();
    await page.getByLabel('Path on the machine of the service').waitFor();
  });

  test('is reached by a drop on any page', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/jobs');
    const dropped = await page.evaluateHandle(`(() => {
      const dropped = new DataTransfer();
      dropped.items.add(new File(['A heron.'], 'heron.md', { type: 'text/markdown' }));
      return dropped;
    })()`);
    const event = { dataTransfer: dropped };
    await page.dispatchEvent('main', 'dragover', event);
    await page.getByText('Drop files or folders to add them').waitFor();
    await page.dispatchEvent('main', 'drop', event);
    await page.waitForURL(/#\/add/);
    await page.locator('[data-preflight]').getByText('heron.md').waitFor();
    assert.equal(await page.getByText('Drop files or folders to add them').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('adds the others if one address is refused, and says which', async (t) => {
    const { site } = suite;
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=mixed');
    const urls = [1, 2, 3].map((number) => `${site.origin}/mixed/${number}`);
    await box(page).fill([...urls, 'http://10.0.0.1/secret'].join('\n'));
    await page.getByText('fetched only if PAWL_ALLOW_HOSTS names it').first().waitFor();
    await page.getByRole('button', { name: 'Add in background' }).click();
    // The notice leaves by itself.
    await page
      .getByText(/1 address was not added: .*10\.0\.0\.1 is not a public address/)
      .waitFor();
    await page.getByText('3 of 3').waitFor();
    await untilDocuments('mixed', urls);
    await visit('/add?corpus=mixed');
    assert.equal(await box(page).inputValue(), 'http://10.0.0.1/secret');
  });

  test('shows a failure first, among hundreds, and in the inbox', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/add?corpus=many');
    const files = Array.from({ length: 230 }, (_, number) => ({
      name: `note-${number}.md`,
      mimeType: 'text/markdown',
      buffer: Buffer.from(`# Note ${number}\n\nHeron number ${number} waits.\n`),
    }));
    const blank = { name: 'z-blank.md', mimeType: 'text/markdown', buffer: Buffer.from(' \n ') };
    await page.getByLabel('Choose files').setInputFiles([...files, blank]);
    await page.getByRole('button', { name: 'Add 231 sources to many' }).click();
    await complete(page);
    await page.getByText('230 added, 1 needs you').waitFor();
    const first = page.locator('[data-sources] details').first();
    await first.getByText('z-blank.md', { exact: true }).waitFor();
    await first.getByText('no_usable_content').waitFor();
    assert.deepEqual(await findProblems(page), []);
    await visit('/inbox');
    const missed = page.getByRole('region', { name: 'Not added', exact: true });
    await missed.getByText('z-blank.md', { exact: true }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await missed.getByRole('button', { name: 'Remove' }).click();
    await missed.waitFor({ state: 'detached' });
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
    // The preview of the search page has the same chunks.
    const reader = page.getByRole('tabpanel', { name: 'Reader' });
    const chosen = reader.locator('.chunk.chosen');
    await chosen.getByText('number850').first().waitFor();
    assert.ok(await chosen.evaluate((chunk) => chunk.getBoundingClientRect().top > 0));
    const before = reader.getByRole('button', { name: 'Show earlier chunks' });
    const label = (await reader.locator('.chunk').first().getAttribute('aria-label')) ?? '';
    const [, number = ''] = /^Chunk (\d+)$/.exec(label) ?? [];
    await before.click();
    await reader.getByLabel(`Chunk ${Number(number) - 1}`, { exact: true }).waitFor();
  });
});

async function isInWindow(page: Page, name: string): Promise<boolean> {
  const box = await page.getByRole('button', { name }).boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
