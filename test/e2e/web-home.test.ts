/** The first page and the page of health: they explain themselves, and stay true after a reload. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until, untilEqual } from '../support/wait.ts';
import { findProblems, openSuite, openView, postJob, settled } from './web-browser.ts';

const suite = openSuite();

describe('the first page', () => {
  test('explains itself, and then searches at once', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/');
    await page.getByRole('heading', { name: 'Three steps to a first result' }).waitFor();
    await untilEqual(() => page.title(), 'Home · Pawl');
    assert.deepEqual(await findProblems(page), []);
    const documents = [
      { id: 'heron', title: 'Herons at the weir', text: 'A heron waits at the weir for fish.' },
    ];
    await postJob(suite.address, { corpus_name: 'birds', documents });
    await page.getByRole('link', { name: 'birds', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Herons at the weir' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('search input:focus').waitFor();
    await page.keyboard.type('heron');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?corpus=birds&q=heron/);
    await page.getByText('waits at the weir').first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('names what needs a person', async (t) => {
    const documents = [{ id: 'blank', title: 'Blank', text: '  ' }];
    await postJob(suite.address, { corpus_name: 'birds', documents });
    const { page, visit } = await openView(t, suite);
    await visit('/');
    const needs = page.getByRole('region', { name: 'Needs you' });
    await needs.getByText('1 document needs you').waitFor();
    await needs.getByRole('link', { name: 'Open the inbox' }).click();
    await page.waitForURL(/#\/inbox/);
  });

  test('shows its frame before any script has arrived', async (t) => {
    const { page } = await openView(t, suite);
    await page.route(/\.js$/, () => undefined);
    await page.goto(`${suite.address}/`, { waitUntil: 'commit' });
    const frame = page.locator('[data-loading]');
    await frame.getByText('Inbox').waitFor();
    await frame.locator('.skeleton').first().waitFor();
  });
});

test('the first paint takes less than a second at 50 kB in a second', async (t) => {
  const { page } = await openView(t, suite, { isMeasured: true });
  // The paint waits for neither: they never arrive.
  await page.route(/\.(js|woff2)$/, () => undefined);
  await page.goto(`${suite.address}/`, { waitUntil: 'commit' });
  const isPainted = 'performance.getEntriesByName("first-contentful-paint").length > 0';
  await until(() => page.evaluate(isPainted), { what: 'the first paint' });
  const bytes = (await page.evaluate(
    `["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
      .reduce((sum, { transferSize }) => sum + transferSize, 0)`,
  )) as number;
  assert.ok(bytes > 1000, `${bytes} bytes`);
  // The page, then its styles: each on a connection of its own.
  const latencyMs = 4 * 20;
  assert.ok((bytes / 50_000) * 1000 + latencyMs < 1000, `${bytes} bytes`);
});

describe('health', () => {
  test('shows an hour that the service keeps, with axes and values on hover', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    const body = JSON.stringify({ corpus_name: 'birds', query: 'heron' });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${suite.address}/search`, { method: 'POST', headers, body });
    await visit('/system');
    await page.locator('[data-verdict="fine"]').getByText('All systems normal').waitFor();
    const chart = page.locator('[data-chart="Search time"]');
    await chart.getByText(/p50 .* m?s · p95 .* m?s/).waitFor();
    await page.reload();
    await chart.getByText(/^last: p50/).waitFor();
    // What is above the chart moves it until it is there.
    await page.locator('[data-verdict="fine"]').waitFor();
    await settled(page);
    await chart.locator('svg').hover({ position: { x: 5, y: 20 } });
    await chart.getByText(/^\d\d:\d\d: p50/).waitFor();
    const scale = chart.locator('.chart-scale span').filter({ hasText: / m?s$/ });
    await untilEqual(() => scale.count(), 2);
    await page.getByText(/free of/).waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });
});
