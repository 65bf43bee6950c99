/** The page of a corpus: documents are found, sorted, selected and deleted, a few or all. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { patience } from '../support/patience.ts';
import { until, untilEqual } from '../support/wait.ts';
import { draw, findProblems, openSuite, openView, postJob } from './web-browser.ts';

const suite = openSuite();

const titled = (titles: readonly string[]) =>
  titles.map((title, index) => ({
    id: `d${index}`,
    title,
    text: `${title}: Ada Lovelace met Charles Babbage in London, number ${index}.`,
  }));

async function fill(corpus: string, titles: readonly string[]): Promise<void> {
  for (let from = 0; from < titles.length; from += 1000) {
    const documents = titled(titles.slice(from, from + 1000)).map((document, index) => ({
      ...document,
      id: `d${from + index}`,
    }));
    await postJob(suite.address, { corpus_name: corpus, documents });
  }
  await until(async () => (await countOf(corpus)) === titles.length, {
    what: `${titles.length} documents in ${corpus}`,
    patienceMs: patience.testMs,
  });
}

async function countOf(corpus: string): Promise<number | undefined> {
  const response = await fetch(`${suite.address}/corpora/${corpus}`);
  return ((await response.json()) as { documents?: number }).documents;
}

describe('a corpus', () => {
  test('is sorted and searched by title, in any script', async (t) => {
    await fill('fruit', ['zebra', 'Öl', 'apfel 10', 'Äpfel', 'apfel 9']);
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/corpora/fruit');
    const rows = page.locator('.document-row > span:first-child');
    await rows.nth(4).waitFor();
    await page.getByLabel('Sort').selectOption('Largest first');
    await rows.first().getByText('apfel 10').waitFor();
    await page.reload();
    // A list that is read at once is sorted from the start.
    assert.equal(await page.getByLabel('Sort').inputValue(), 'title');
    const sorted = ['Äpfel', 'apfel 9', 'apfel 10', 'Öl', 'zebra'];
    await untilEqual(() => rows.allInnerTexts(), sorted);
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'corpus-sorted-light');
    await page.getByLabel('Find by title or address').fill('APFEL');
    await page.getByText('3 documents of 5').waitFor();
    await page.getByLabel('Find by title or address').fill('nothing');
    await page.getByText('No document matches').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('deletes a selection, after a question, by key', async (t) => {
    await fill('chosen', ['one', 'two', 'three', 'four']);
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/corpora/chosen');
    for (const title of ['one', 'three']) {
      await page.getByLabel(`Select ${title}`).focus();
      await page.keyboard.press('Space');
    }
    await page.getByText('2 selected').waitFor();
    await page.locator('.selection').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 documents deleted.').waitFor();
    await untilEqual(() => countOf('chosen'), 2);
    await untilEqual(
      () => page.locator('.document-row > span:first-child').allInnerTexts(),
      ['four', 'two'],
    );
    assert.deepEqual(complaints, []);
  });

  test('selects every document, also those not listed yet, and deletes many at once', async (t) => {
    const size = 1100;
    await fill(
      'whole',
      Array.from({ length: size }, (_, number) => `note ${number}`),
    );
    const { page, visit, complaints } = await openView(t, suite);
    const sent: number[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('/corpora/whole/documents/delete')) return;
      sent.push((request.postDataJSON() as { document_ids: string[] }).document_ids.length);
    });
    await visit('/corpora/whole');
    await page.getByRole('button', { name: 'Select all 1,100', exact: true }).click();
    await page.getByText('1,100 selected').waitFor();
    await page.locator('.selection').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1,100 documents deleted.').waitFor();
    assert.deepEqual(sent, [200, 200, 200, 200, 200, 100]);
    await untilEqual(() => countOf('whole'), 0);
    await page.getByText('No documents are indexed yet').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('shows its entities, what they occur with, and its budget', async (t) => {
    await fill('people', ['first', 'second', 'third']);
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/corpora/people');
    await page.getByRole('button', { name: 'Entities and budget' }).click();
    const entities = page.getByRole('region', { name: 'Entities' });
    await entities.getByRole('button', { name: /Charles Babbage/ }).click();
    await page.getByRole('region', { name: 'Together with Charles Babbage' }).waitFor();
    await page.getByRole('img', { name: /entities in the same passages/ }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByLabel('Budget in cents, for all jobs together').fill('250');
    await page.getByRole('button', { name: 'Set budget' }).click();
    await page.getByText('$2.50').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('of 10,000 documents is deleted with visible progress', async (t) => {
    const titles = Array.from({ length: 10_000 }, (_, number) => `note ${number}`);
    await fill('large', titles);
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/corpora/large');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    // The notice leaves by itself.
    const isTold = page
      .getByText('large was deleted with 10,000 documents.')
      .waitFor({ timeout: patience.testMs });
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const progress = page.locator('[data-deleted]');
    await progress.getByText(/Deleting: [\d,]+ of 10,000/).waitFor();
    const seen = new Set<unknown>();
    const shownNow = 'document.querySelector("[data-deleted]")?.dataset.deleted';
    await until(async () => seen.add(await page.evaluate(shownNow)).has(undefined), {
      what: 'the corpus to be deleted',
      patienceMs: patience.testMs,
    });
    assert.ok(seen.size > 3, `the progress had only the values ${[...seen].join()}`);
    await isTold;
    await page.waitForURL(/#\/corpora$/);
    assert.deepEqual(complaints, []);
  });
});
