/** A hundred thousand jobs: the list paints fast, scrolls, and requests little. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startService } from '../../src/app/role/service.ts';
import { assertBestMs } from '../support/measure.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { launchBrowser, openView } from './web-browser.ts';

const jobs = 100_000;
const pageMsMax = 50;
const paintMsMax = 300;
const scrolls = 40;
/** 60 frames per second leave 17 ms each; other load on the machine makes them slower. */
const frameMs = 25;

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

/** Rows are inserted directly, because the test measures only how they are shown. */
async function fillStore(data: string): Promise<void> {
  const log = { level: 'error', write: () => undefined } as const;
  const service = await startService({ data, host: '127.0.0.1', port: 0, log, work: false });
  await service.close();
  const database = new DatabaseSync(join(data, 'pawl.db'));
  database.exec('BEGIN');
  const insert = database.prepare(
    `INSERT INTO jobs (key, caller, corpus, type, url, force, priority, state, items_total,
      items_done, created_at, updated_at, started_at, ended_at)
     VALUES (?, 'local', ?, 'ingest', ?, 0, 0, 'succeeded', 1, 1, ?, ?, ?, ?)`,
  );
  const start = Date.now() - jobs * 1000;
  for (let place = 0; place < jobs; place += 1) {
    const at = start + place * 1000;
    const url = `https://example.org/page/${place}`;
    insert.run(`job-${place}`, `corpus-${place % 7}`, url, at, at, at, at);
  }
  database.exec('COMMIT');
  database.close();
}

/**
 * The cheapest of the first twenty pages, in CPU time of this process, which is server and client.
 */
async function readPages(address: string): Promise<number> {
  const times: number[] = [];
  let cursor = '';
  while (times.length < 20) {
    const before = process.cpuUsage();
    const answer = await fetch(`${address}/jobs?limit=200${cursor}`);
    const text = await answer.text();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
    const { items, next_cursor } = JSON.parse(text) as { items: unknown[]; next_cursor: string };
    assert.equal(items.length, 200);
    cursor = `&cursor=${next_cursor}`;
  }
  return Math.min(...times);
}

/** Resolves in the frame after the first jobs are shown. */
const painted = `new Promise((resolve) => {
  const isThere = () => document.querySelectorAll('.job-row').length > 0;
  const look = () => isThere() ? requestAnimationFrame(resolve) : requestAnimationFrame(look);
  look();
})`;

/** Scrolls the list by nine rows per frame. */
const scrollFrames = `new Promise((resolve) => {
  const list = document.querySelector('.list');
  let left = ${scrolls};
  const step = () => {
    list.scrollTop += 400;
    left -= 1;
    if (left > 0) requestAnimationFrame(step); else resolve();
  };
  requestAnimationFrame(step);
})`;

interface Traced {
  readonly traceEvents: readonly {
    readonly name: string;
    readonly ph: string;
    readonly args?: { readonly frame_reporter?: { readonly state?: string } };
  }[];
}

interface Scrolled {
  /** Frame counts reported by Chromium: presented, and dropped. */
  readonly drawn: number;
  readonly dropped: number;
  /** Per frame. */
  readonly computedMs: number;
}

/** The CPU time of the page so far, which other processes hardly affect. */
async function openMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
  };
}

async function scroll(page: Page): Promise<Scrolled> {
  const computed = await openMeter(page);
  const categories = ['disabled-by-default-devtools.timeline.frame'];
  await browser.startTracing(page, { categories });
  const before = await computed();
  await page.evaluate(scrollFrames);
  const computedMs = ((await computed()) - before) / scrolls;
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as Traced;
  const states = traceEvents
    .filter(({ name, ph }) => name === 'PipelineReporter' && ph === 'b')
    .map(({ args }) => args?.frame_reporter?.state ?? '');
  const countOf = (pattern: RegExp): number => states.filter((state) => pattern.test(state)).length;
  const scrolled = { drawn: countOf(/PRESENTED/), dropped: countOf(/DROPPED/), computedMs };
  assert.ok(scrolled.drawn > 0, 'Chromium must report its frames');
  return scrolled;
}

describe('a hundred thousand jobs', () => {
  test('are listed immediately, page by page, with few rows in the page', async (t) => {
    const data = temporaryDirectory(t);
    await fillStore(data);
    const { service } = await openBench(t, { data, work: false });
    const pageMs = await assertBestMs(pageMsMax, () => readPages(service.address), 'a page');
    const { page, complaints } = await openView(
      t,
      { browser, address: service.address },
      { isMeasured: true },
    );
    await page.goto(`${service.address}/#/jobs`);
    const paint = async () => {
      const computed = await openMeter(page);
      const before = await computed();
      await page.reload();
      await page.evaluate(painted);
      return (await computed()) - before;
    };
    const paintedMs = await assertBestMs(paintMsMax, paint, 'to load and paint the list');
    await page.getByText('200 jobs so far').waitFor();
    let frames = '';
    const scrollOnce = async () => {
      const { drawn, dropped, computedMs } = await scroll(page);
      frames = `${drawn} drawn, ${dropped} dropped`;
      return computedMs;
    };
    const computedMs = await assertBestMs(frameMs, scrollOnce, 'a frame');
    await page.getByText(/[4-9]00 jobs so far|\d,\d00 jobs so far/).waitFor();
    assert.ok((await page.locator('.job-row').count()) < 60, 'only visible rows are in the page');
    t.diagnostic(
      `a page of 200: ${pageMs.toFixed(1)} ms; the list: ${paintedMs.toFixed(0)} ms; ` +
        `frames: ${frames}, ${computedMs.toFixed(1)} ms computed for each`,
    );
    assert.deepEqual(complaints, []);
  });
});
