/**
 * A real Chromium on a real `pawl serve`. Where a page says something in the console that it should
 * not, or throws, the test fails: a strict policy that is broken shows there, too.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findExecutable } from '../support/server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { openWorkplace, type RunOptions, type Started, type Workplace } from './pawl-process.ts';

const patienceMs = 20_000;

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findExecutable('chromium') ?? findExecutable('google-chrome');
  assert.ok(executablePath, 'these tests need Chromium: install the package chromium');
  const isRoot = process.getuid?.() === 0;
  const args = ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args });
}

export interface Serving {
  readonly place: Workplace;
  readonly address: string;
  readonly started: Started;
  /** Starts it again, on the same port and the same store. */
  again(): Promise<Started>;
}

export interface ServeOptions extends RunOptions {
  readonly args?: readonly string[];
}

export async function serve(t: Cleanup, options: ServeOptions = {}): Promise<Serving> {
  const place = openWorkplace(t);
  const args = options.args ?? ['--no-sample'];
  const started = place.start(['serve', '--port', '0', ...args], options);
  const [, address = ''] = await started.seen(/listens on (http:\/\/127\.0\.0\.1:\d+)/);
  const again = async (): Promise<Started> => {
    const port = new URL(address).port;
    const kept = Object.entries(options.environment ?? {});
    const environment = Object.fromEntries(kept.filter(([name]) => name !== 'PAWL_FAILPOINT'));
    const next = place.start(['serve', '--port', port, '--no-sample'], { environment });
    await next.seen(/listens on/);
    return next;
  };
  return { place, address, started, again };
}

export interface View {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page has complained about so far, connections that broke apart. */
  readonly complaints: readonly string[];
  /** Goes to a page of the workbench. */
  visit(path: string): Promise<void>;
}

export interface ViewOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

export async function openView(
  t: Cleanup,
  { browser, address }: { browser: Browser; address: string },
  { width = 1280, colorScheme = 'light' }: ViewOptions = {},
): Promise<View> {
  const viewport = { width, height: width < 500 ? 844 : 800 };
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const complaints: string[] = [];
  page.on('pageerror', (error) => void complaints.push(error.message));
  page.on('console', (message) => {
    const isNetwork = /Failed to load resource|net::ERR_/.test(message.text());
    if (message.type() === 'error' && !isNetwork) complaints.push(message.text());
  });
  const visit = async (path: string): Promise<void> => {
    await page.goto(`${address}/#${path}`);
    await page.locator('[data-standing="live"]').waitFor();
  };
  return { page, context, complaints, visit };
}

/** What axe finds, each with the first place where it finds it. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  );
}

const screenshots = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));

/** With PAWL_SCREENSHOTS=1 the pictures in `docs/screenshots/` are made anew. */
export async function draw(page: Page, name: string): Promise<void> {
  if (process.env.PAWL_SCREENSHOTS !== '1') return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, animations: 'disabled' });
}

export async function postJob(address: string, body: object): Promise<string> {
  const response = await fetch(`${address}/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { job_id: string }).job_id;
}
