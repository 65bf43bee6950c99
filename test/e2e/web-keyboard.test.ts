/** The workbench without a mouse. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until, untilEqual } from '../support/wait.ts';
import { findViolations, idle, openSuite, openView, postJob } from './web-browser.ts';

const suite = openSuite();

const focused = (page: Page): Promise<unknown> =>
  page.evaluate('document.activeElement.id || document.activeElement.textContent');

async function untilFocused(page: Page, pattern: RegExp): Promise<string> {
  return until(async () => pattern.exec(String(await focused(page)))?.input, {
    what: `the focus on ${pattern}`,
  });
}

/** What has just been drawn may not listen to keys yet. */
async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  await idle(page);
  for (const key of keys) await page.keyboard.press(key);
}

const documents = [
  { id: 'cat', title: 'The cat', text: 'The cat sleeps on the harmonium.' },
  { id: 'blank', text: ' ' },
  { id: 'nothing', text: '\n' },
];

describe('by keyboard alone', () => {
  test('a user adds, searches, opens, and clears the inbox', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await postJob(suite.address, { corpus_name: 'pets', documents });
    await visit('/jobs');
    await page.locator('.job-row').first().waitFor();
    await press(page, 'j');
    await page.locator('a.job-row:focus').waitFor();
    await press(page, 'Enter');
    await page.locator('[data-tile="Ready"]').waitFor();
    await page.locator('button.item-row').first().waitFor();
    await press(page, 'j');
    await page.locator('button.item-row:focus').waitFor();
    await press(page, 'Enter');
    await page.getByText('Result').waitFor();

    await press(page, '/');
    await page.locator('input[type="search"]:focus').waitFor();
    await page.keyboard.type('harmonium');
    await page.locator('.hit').first().waitFor();
    await page.waitForURL(/q=harmonium/);
    await press(page, 'Tab');
    await page.evaluate('document.activeElement.blur()');
    await press(page, 'j', 'Enter');
    await page.getByRole('tabpanel', { name: 'Reader' }).locator('.chunk.chosen').waitFor();

    await press(page, 'g', 'i');
    await page.locator('[id^="item "]').nth(1).waitFor();
    await page.getByText('2 documents', { exact: true }).waitFor();
    await press(page, 'j', 'j');
    const first = await untilFocused(page, /^item \d+$/);
    await press(page, 'Enter');
    await page.getByText('All tries, step by step').waitFor();
    await press(page, 'd');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.locator(`[id="${first}"]`).waitFor({ state: 'detached' });
    await untilFocused(page, /^item \d+$/);
    await press(page, 'R');
    await page.getByText('Retrying 1 document').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a query can be edited in the middle', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/search?corpus=pets');
    const field = page.locator('input[type="search"]:focus');
    await field.waitFor();
    await page.keyboard.type('harmonium');
    await press(page, 'Home');
    await page.keyboard.type('the cat on the ');
    await untilEqual(() => field.inputValue(), 'the cat on the harmonium');
    await page.waitForURL(/q=the.cat.*harmonium/);
    await idle(page);
    assert.equal(await field.inputValue(), 'the cat on the harmonium');
  });

  test('/ returns to the search field and keeps the query', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/search?corpus=pets&q=harmonium');
    await page.locator('.hit').first().waitFor();
    await page.evaluate('document.activeElement.blur()');
    await press(page, '/');
    const field = page.locator('input[type="search"]:focus');
    await field.waitFor();
    await press(page, 'End');
    await page.keyboard.type(' cat');
    await untilEqual(() => field.inputValue(), 'harmonium cat');
  });

  test('a page has its title and the focus, and the navigation can be skipped', async (t) => {
    const { page, visit } = await openView(t, suite);
    const titled = (name: string) =>
      until(async () => (await page.title()) === `${name} · Pawl`, { what: `the title ${name}` });
    await visit('/jobs');
    await titled('Jobs');
    await page.getByRole('navigation').getByRole('link', { name: 'Corpora' }).click();
    await titled('Corpora');
    await visit('/inbox');
    await titled('Inbox');
    await page.locator('main:focus').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await press(page, 'Tab');
    await page
      .getByRole('button', { name: 'Skip to content' })
      .and(page.locator(':focus'))
      .waitFor();
    await press(page, 'Enter');
    await page.locator('main:focus').waitFor();
  });

  test('Ctrl and K jumps to a page, a corpus or a job, or searches', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const body = { corpus_name: 'palette', documents: [{ id: 'owl', text: 'An owl by night.' }] };
    const job = await postJob(suite.address, body);
    await visit('/search');
    await page.locator('search input:focus').waitFor();
    const jump = async (text: string, chosen: RegExp): Promise<void> => {
      await press(page, 'Control+k');
      await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
      await page.keyboard.type(text);
      await page.getByRole('option', { name: chosen, selected: true }).waitFor();
      await press(page, 'Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await jump('heal', /Health/);
    await page.waitForURL(/#\/system/);
    await jump('palette', /Corpus.*palette/);
    await page.waitForURL(/#\/corpora\/palette/);
    await jump(job, /Job.*inline:owl/);
    await page.waitForURL(new RegExp(`#/jobs/${job}`));
    await jump('owl by', /Search.*owl by/);
    await page.waitForURL(/#\/search\?q=owl/);
    await press(page, 'Control+k');
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await press(page, 'ArrowDown', 'ArrowDown');
    await page.getByRole('option', { name: /Page.*Add/, selected: true }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  test('the selected row stays selected when new rows appear above it', async (t) => {
    const { address } = suite;
    for (const id of ['older', 'newer']) {
      await postJob(address, { corpus_name: 'order', documents: [{ id, text: `An ${id} text.` }] });
    }
    const { page, visit } = await openView(t, suite);
    await visit('/jobs?corpus_name=order');
    await page.getByText('2 jobs', { exact: true }).waitFor();
    await press(page, 'j');
    await untilFocused(page, /inline:newer/);
    await postJob(address, { corpus_name: 'order', documents: [{ id: 'top', text: 'On top.' }] });
    await page.getByText('3 jobs', { exact: true }).waitFor();
    await page.locator('.job-row').filter({ hasText: 'inline:top' }).waitFor();
    await idle(page);
    assert.match(String(await focused(page)), /inline:newer/);
    await press(page, 'j');
    await untilFocused(page, /inline:older/);
    await press(page, 'k');
    await untilFocused(page, /inline:newer/);
    await press(page, 'k');
    await untilFocused(page, /inline:top/);
  });

  test('the keys are listed, and the focus is visible', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/jobs');
    await press(page, '?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (let presses = 0; presses < 12; presses += 1) {
      await press(page, 'Tab');
      const outline = 'getComputedStyle(document.activeElement).outlineStyle';
      const what = 'document.activeElement.outerHTML';
      assert.notEqual(await page.evaluate(outline), 'none', String(await page.evaluate(what)));
    }
  });
});
