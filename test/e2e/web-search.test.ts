/** The search page: rendered passages, one result per document, filters, keys, and no results. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until, untilEqual } from '../support/wait.ts';
import {
  draw,
  findProblems,
  idle,
  openSuite,
  openView,
  postJob,
  settled,
  type View,
} from './web-browser.ts';

const suite = openSuite({ fill });

const drain = [
  '# Drain a node',
  'Before maintenance, move the pods away:',
  '```shell\nkubectl cordon worker-1\nkubectl drain worker-1 \\\n  --ignore-daemonsets\n```',
  '| option | meaning |\n| --- | --- |\n| --force | deletes pods that nobody manages |',
  'See [the manual](https://docs.example/drain) or [run](javascript:alert(1)).',
].join('\n\n');

/** Many passages of one document match. */
const guide = Array.from(
  { length: 12 },
  (_, part) => `## Valve ${part}\n\n${`The valve number ${part} closes by hand. `.repeat(30)}`,
).join('\n\n');

async function fill(): Promise<void> {
  const { address } = suite;
  const jobs = [
    await postJob(address, {
      corpus_name: 'ops',
      documents: [
        { id: 'drain', title: 'Drain', markdown: drain, metadata: { team: 'platform' } },
        { id: 'guide', title: 'Guide', markdown: guide },
        { id: 'note', title: 'Note', text: 'A note: the valve leaks, so call the plumber.' },
        ...Array.from({ length: 30 }, (_, index) => ({
          id: `pump-${index}`,
          title: `Pump ${index}`,
          text: `The pump number ${index} runs at night. `.repeat(8),
        })),
      ],
    }),
    await postJob(address, {
      corpus_name: 'birds',
      documents: [
        { id: 'heron', title: 'Heron', text: 'The heron stands beside the valve.' },
        { id: 'egret', markdown: '# Egret\n\n## Nests\n\nThe egret weaves twigs.' },
      ],
    }),
  ];
  for (const job of jobs) await (await fetch(`${address}/jobs/${job}/stream`)).text();
}

const hits = (page: Page) => page.locator('.hit');
const field = (page: Page) => page.getByRole('searchbox', { name: 'What to search for' });
const chosen = (page: Page) => page.locator('.hit[aria-current="true"] h2');
/** On the page of a document; the preview of a result shows chunks, too. */
const reader = (page: Page) => page.getByRole('tabpanel', { name: 'Reader' });

async function found(view: View, path: string): Promise<void> {
  await view.visit(path);
  await hits(view.page).first().waitFor();
}

describe('the search page', () => {
  test('renders Markdown: lines of code, cells of tables, safe links', async (t) => {
    const view = await openView(t, suite);
    await found(view, '/search?corpus=ops&q=kubectl+drain');
    const hit = hits(view.page).filter({ has: view.page.getByRole('link', { name: 'Drain' }) });
    const code = hit.locator('pre').first();
    assert.equal(
      await code.textContent(),
      'kubectl cordon worker-1\nkubectl drain worker-1 \\\n  --ignore-daemonsets',
    );
    assert.deepEqual(await code.locator('mark').allTextContents(), ['kubectl', 'kubectl', 'drain']);
    await hit.getByRole('cell', { name: 'deletes pods that nobody manages' }).first().waitFor();
    const links = await hit
      .locator('.prose a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.deepEqual([...new Set(links)], ['https://docs.example/drain']);
    assert.deepEqual(view.complaints, []);
  });

  test('has one result for each document, and says how many more passages it has', async (t) => {
    const view = await openView(t, suite);
    await found(view, '/search?corpus=ops&q=valve+closes&mode=keyword');
    const titles = await hits(view.page).locator('h2').allTextContents();
    assert.equal(new Set(titles).size, titles.length, titles.join());
    const guideHit = hits(view.page).filter({ hasText: 'Guide' });
    const more = guideHit.getByRole('link', { name: /^\d+ more in this document$/ });
    await more.click();
    await view.page.waitForURL(/#\/documents\/.*q=valve/);
    await view.page.getByText(/of \d+ passages/).waitFor();
  });

  test('names the heading of a passage without the title above it', async (t) => {
    const view = await openView(t, suite);
    await found(view, '/search?corpus=birds&q=egret+twigs&mode=keyword');
    const egret = hits(view.page).filter({ hasText: 'weaves twigs' });
    await egret.getByRole('heading', { name: 'Egret' }).waitFor();
    await egret.getByText('Nests', { exact: true }).first().waitFor();
    assert.equal(await egret.getByText('Egret › Nests').count(), 0);
  });

  test('begins with the largest corpus, and suggests what it can answer', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/search');
    await page.getByRole('heading', { name: 'Search ops' }).waitFor();
    const suggested = page.locator('.empty').getByRole('link').first();
    const title = await suggested.innerText();
    await suggested.click();
    await hits(page).filter({ hasText: title }).first().waitFor();
  });

  test('chooses by arrow keys, which show a preview, and opens by Enter', async (t) => {
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=ops&q=pump+night');
    await field(page).focus();
    const titles = await hits(page).locator('h2').allTextContents();
    const preview = page.getByRole('complementary', { name: 'Preview' });
    await preview.getByText(titles[0] ?? '', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await untilEqual(() => chosen(page).textContent(), titles[1] ?? null);
    await preview.getByText(titles[1] ?? '', { exact: true }).waitFor();
    await preview.locator('.chunk.chosen mark').first().waitFor();
    // A document that is added elsewhere has the results read again.
    const again = page.waitForResponse((one) => new URL(one.url()).pathname === '/search');
    const documents = [{ id: 'later', title: 'Later', text: 'A late note.' }];
    await postJob(suite.address, { corpus_name: 'ops', documents });
    await (await again).finished();
    await idle(page);
    assert.equal(await field(page).inputValue(), 'pump night');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/documents\//);
    await page.getByRole('heading', { name: titles[1] ?? '', level: 1, exact: true }).waitFor();
  });

  test('says that nothing was found, suggests a word, and offers the nearest', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/search?corpus=ops&q=zzqqxx');
    await page.getByRole('heading', { name: 'No passage contains these words' }).waitFor();
    await page.getByText('Nothing found').waitFor();
    assert.equal(await hits(page).count(), 0);
    await page.getByRole('button', { name: 'Show the closest in meaning' }).click();
    await page.getByText('Closest in meaning:').waitFor();
    await page.locator('.hit.near').first().waitFor();
    await visit('/search?corpus=ops&q=plumbr&mode=keyword');
    await page.getByRole('button', { name: 'plumber' }).click();
    await page.waitForURL(
      (url) => new URLSearchParams(url.hash.split('?')[1]).get('q') === 'plumber',
    );
    await page.getByRole('link', { name: 'Note', exact: true }).first().waitFor();
  });

  test('marks results as stale until those of the new query arrive', async (t) => {
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=ops&q=pump');
    let answer: (() => void) | undefined;
    await page.route('**/search', async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    await field(page).fill('valve');
    await page.locator('.stale .hit').first().waitFor();
    await page.getByRole('status').getByText('Searching…').waitFor();
    await until(() => answer !== undefined, { what: 'the new search' });
    answer?.();
    await page.locator('.stale').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Guide', exact: true }).first().waitFor();
  });

  test('sends one request for a word that is typed, not one for each key', async (t) => {
    const { page, visit } = await openView(t, suite);
    await page.clock.install();
    await visit('/search?corpus=ops');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/search') asked.push(request.postData() ?? '');
    });
    await field(page).focus();
    const now = Number(await page.evaluate('Date.now()'));
    await page.clock.pauseAt(now + 60_000);
    await page.keyboard.type('plumber');
    await page.waitForURL(/q=plumber/);
    // Less than the pause after a key. A round trip lets a request be seen that was sent too early.
    for (let step = 0; step < 3; step += 1) {
      await page.clock.runFor(20);
      await page.evaluate("fetch('/healthz').then((response) => response.text())");
    }
    assert.deepEqual(asked, []);
    await page.clock.resume();
    await hits(page).first().waitFor();
    assert.equal(asked.length, 1, asked.join('\n'));
    assert.match(asked[0] ?? '', /"query":"plumber"/);
  });

  test('narrows by facets, metadata and several corpora, all in the address', async (t) => {
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=ops&q=drain');
    await page.getByRole('button', { name: 'team: platform' }).first().click();
    await page.waitForURL(/where=/);
    await untilEqual(() => hits(page).count(), 1);
    await page.getByText('Filters (1)').waitFor();
    await found(view, '/search?corpus=ops&q=valve&mode=keyword');
    await page.getByText('Corpus: ops').click();
    await page.getByRole('checkbox', { name: 'birds' }).check();
    await page.getByText('2 corpora').waitFor();
    const heron = hits(page).filter({ hasText: 'beside the valve' });
    await heron.getByText('birds', { exact: true }).waitFor();
    await page.reload();
    await heron.waitFor();
  });

  test('finds a part of the name that a result shows, and narrows by folder', async (t) => {
    const form = new FormData();
    form.set('corpus_name', 'files');
    for (const name of ['tasks/safely-drain.md', 'tasks/other.md', 'notes/drain.md']) {
      form.append('file', new Blob([`# ${name}\n\nThe node is drained.`]), name);
    }
    const { address } = suite;
    const response = await fetch(`${address}/jobs/upload`, { method: 'POST', body: form });
    const { job_id } = (await response.json()) as { job_id: string };
    await (await fetch(`${address}/jobs/${job_id}/stream`)).text();
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=files&q=drained');
    const count = (size: number) => untilEqual(() => hits(page).count(), size);
    await count(3);
    await page.getByRole('button', { name: /^tasks\b/ }).click();
    await count(2);
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Source contains').fill('safely');
    await count(1);
    await page.getByText('tasks/safely-drain.md', { exact: true }).first().waitFor();
  });

  test('fits at twice the size', async (t) => {
    const view = await openView(t, suite, { width: 640 });
    await found(view, '/search?corpus=ops&q=drain+valve&explain=true');
    const { page } = view;
    await settled(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 640);
    await hits(page).first().locator('h2 a').click();
    await reader(page).locator('.chunk.chosen').waitFor();
    await settled(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 640);
  });

  test('keeps its place when the browser goes back', async (t) => {
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=ops&q=pump+night');
    const scroller = page.locator('.search-page');
    const last = hits(page).nth(15);
    await last.scrollIntoViewIfNeeded();
    const before = await scroller.evaluate((one) => one.scrollTop);
    assert.ok(before > 300, String(before));
    await last.locator('h2 a').click();
    await reader(page).locator('.chunk.chosen').waitFor();
    await page.goBack();
    await last.waitFor();
    await until(
      async () => Math.abs((await scroller.evaluate((one) => one.scrollTop)) - before) < 200,
      { what: 'the place before' },
    );
  });

  test('copies a search as a command, a tool call and a program', async (t) => {
    const view = await openView(t, suite);
    const { page, context } = view;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await found(view, '/search?corpus=ops&q=valve');
    await page.getByRole('button', { name: 'Copy as…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`curl -s '${suite.address}/v1/search'`).waitFor();
    await dialog.getByRole('button', { name: 'MCP' }).click();
    await dialog.getByText('"tools/call"').waitFor();
    await dialog.getByRole('button', { name: 'Code' }).click();
    await dialog.getByText('await pawl.search("ops", "valve")').waitFor();
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('Copied.').waitFor();
    const text = await page.evaluate('navigator.clipboard.readText()');
    assert.match(String(text), /pawl\.search\("ops", "valve"\)/);
  });

  test('is accessible with all its parts, wide, dark and narrow', async (t) => {
    const view = await openView(t, suite);
    const { page } = view;
    await found(view, '/search?corpus=ops&q=drain+valve&explain=true');
    await page.getByRole('complementary', { name: 'Preview' }).locator('.chunk').first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'search-panes');
    await page.getByText('Filters', { exact: true }).click();
    await page.getByText('Corpus: ops').click();
    assert.deepEqual(await findProblems(page), []);
    await view.visit('/search?corpus=ops&q=zzqqxx');
    await page.getByRole('heading', { name: 'No passage contains these words' }).waitFor();
    assert.deepEqual(await findProblems(page), []);
  });
});
