/** The service is killed under an open page: the page recovers without gaps or duplicates. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { untilEqual } from '../support/wait.ts';
import { draw, launchBrowser, openView, postJob, serve } from './web-browser.ts';
import { openSite } from './web-site.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

interface Events {
  readonly items: readonly { readonly seq: number }[];
}

interface Element {
  readonly dataset: Readonly<Record<string, string>>;
  scrollTop: number;
}

/** A virtual list renders only visible rows, so it is scrolled from top to bottom. */
async function readSequence(page: Page): Promise<number[]> {
  const list = page.getByRole('region', { name: 'Events' });
  const seen: number[] = [];
  await list.evaluate((element: Element) => {
    element.scrollTop = 0;
  });
  for (let isEnd = false; !isEnd; ) {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => done(true)))');
    const numbers = await list
      .locator('[data-seq]')
      .evaluateAll((rows: Element[]) => rows.map(({ dataset }) => Number(dataset.seq)));
    seen.push(...numbers.filter((seq: number) => !seen.includes(seq)));
    isEnd = await list.evaluate((element: Element) => {
      const before = element.scrollTop;
      element.scrollTop += 200;
      return element.scrollTop === before;
    });
  }
  return seen;
}

describe('the workbench, when the service is killed', () => {
  test('shows it, and recovers without gaps or duplicates', async (t) => {
    const site = await openSite(t);
    site.hold('/slow');
    const environment = { PAWL_ALLOW_HOSTS: site.host };
    const { address, started, again } = await serve(t, { environment });
    const { page, visit, complaints } = await openView(t, { browser, address });
    const urls = ['/1', '/2', '/slow/3', '/slow/4', '/5'].map((path) => site.origin + path);
    const id = await postJob(address, { corpus_name: 'a', urls });
    await visit(`/jobs/${id}?tab=events`);
    await page.locator('[data-tile="Ready"]').getByText('2 of 5').waitFor();
    await page.locator('[data-seq]').first().waitFor();
    await draw(page, 'kill-1-running');
    started.child.kill('SIGKILL');
    await started.finished;
    await page.getByText('Pawl is unreachable').waitFor();
    await draw(page, 'kill-2-offline');
    await again();
    site.release('/slow');
    await page.getByText('ready to search').first().waitFor();
    await page.locator('[data-connection="live"]').waitFor();
    await draw(page, 'kill-3-done');
    const answer = await fetch(`${address}/jobs/${id}/events?limit=1000`);
    const { items } = (await answer.json()) as Events;
    const expected = items.map(({ seq }) => seq).toReversed();
    await page.getByText(`${expected.length} events, newest first.`).waitFor();
    await untilEqual(() => readSequence(page), expected);
    // Later events are shown as before.
    const later = { corpus_name: 'a', documents: [{ id: 'later', text: 'A later document.' }] };
    await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
    await page.getByText('1 job', { exact: true }).waitFor();
    await postJob(address, later);
    await page.getByText('2 jobs', { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
