/**
 * A real Chromium on a real `pawl serve`. A test fails if its page throws or writes an unexpected
 * console message, which includes violations of the content security policy.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { patience } from '../support/patience.ts';
import { findExecutable } from '../support/server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type CommandRunner, openRunner, type RunOptions, type Started } from './pawl-process.ts';
import { slowDown } from './slow-pages.ts';
import { openSite, type Site } from './web-site.ts';

export interface Suite {
  readonly browser: Browser;
  readonly site: Site;
  readonly serving: Serving;
  readonly address: string;
}

export interface SuiteOptions extends ServeOptions {
  /** The handles that the tests use. */
  readonly fill?: () => Promise<void>;
}

/** One browser, one site and one service for all tests of a file. */
export function openSuite(options: SuiteOptions = {}): Suite {
  const releases: (() => void | Promise<void>)[] = [];
  const cleanup = {
    after: (release: () => void | Promise<void>) => void releases.unshift(release),
  };
  let opened: Omit<Suite, 'address'> | undefined;
  before(async () => {
    const site = await openSite(cleanup);
    const environment = { PAWL_ALLOW_HOSTS: site.host, ...options.environment };
    const starting = serve(cleanup, { ...options, environment });
    const browser = await launchBrowser();
    cleanup.after(() => browser.close());
    opened = { browser, site, serving: await starting };
    await options.fill?.();
  });
  after(async () => {
    for (const release of releases) await release();
  });
  const get = (): Omit<Suite, 'address'> => {
    assert.ok(opened, 'the suite is not open yet');
    return opened;
  };
  return {
    get browser() {
      return get().browser;
    },
    get site() {
      return get().site;
    },
    get serving() {
      return get().serving;
    },
    get address() {
      return get().serving.address;
    },
  };
}

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findExecutable('chromium') ?? findExecutable('google-chrome');
  assert.ok(executablePath, 'these tests need Chromium: install the package chromium');
  const isRoot = process.getuid?.() === 0;
  const args = ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args });
}

export interface Serving {
  readonly place: CommandRunner;
  readonly address: string;
  readonly started: Started;
  /** Starts it again on the same port and store. */
  again(): Promise<Started>;
}

export interface ServeOptions extends RunOptions {
  readonly args?: readonly string[];
}

export async function serve(t: Cleanup, options: ServeOptions = {}): Promise<Serving> {
  const place = openRunner(t);
  const args = options.args ?? ['--no-sample'];
  const started = place.start(['serve', '--port', '0', ...args], {
    lifeMs: patience.fileMs,
    ...options,
  });
  const [, address = ''] = await started.seen(/listens on (http:\/\/127\.0\.0\.1:\d+)/);
  const again = async (): Promise<Started> => {
    const port = new URL(address).port;
    const kept = Object.entries(options.environment ?? {});
    const environment = Object.fromEntries(kept.filter(([name]) => name !== 'PAWL_FAILPOINT'));
    const again = ['serve', '--port', port, '--no-sample'];
    const next = place.start(again, { lifeMs: patience.fileMs, environment });
    await next.seen(/listens on/);
    return next;
  };
  return { place, address, started, again };
}

export interface View {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The console errors so far, without those of broken connections. */
  readonly complaints: readonly string[];
  /** Opens a page of the workbench. Resolves when it is shown; its data may still be loading. */
  visit(path: string): Promise<void>;
}

export interface ViewOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** A page whose speed is measured is never slowed down. */
  readonly isMeasured?: boolean;
}

export async function openView(
  t: Cleanup,
  { browser, address }: { browser: Browser; address: string },
  { width = 1280, colorScheme = 'light', isMeasured = false }: ViewOptions = {},
): Promise<View> {
  const viewport = { width, height: width < 500 ? 844 : 800 };
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(patience.eventMs);
  if (!isMeasured) await slowDown(page);
  const complaints: string[] = [];
  page.on('pageerror', (error) => void complaints.push(error.message));
  page.on('console', (message) => {
    const isNetwork = /Failed to load resource|net::ERR_/.test(message.text());
    if (message.type() === 'error' && !isNetwork) complaints.push(message.text());
  });
  const visit = async (path: string): Promise<void> => {
    await page.goto(`${address}/#${path}`);
    await page.locator('[data-connection="live"]').waitFor();
    await shown(page);
  };
  return { page, context, complaints, visit };
}

/** The address changes before the router shows its page, whose script may have to be loaded. */
const isShown = `(() => {
  const { history, state } = self.__TSR_ROUTER__;
  const { status, location: next, resolvedLocation } = state;
  const isKnown = (location.hash.slice(1) || '/') === history.location.href;
  return isKnown && status === 'idle' && resolvedLocation.href === next.href;
})()`;

/** Resolves when the page of the current address has replaced the one before it. */
export async function shown(page: Page): Promise<void> {
  await until(() => page.evaluate(isShown), { what: `the page ${page.url()} to be shown` });
}

/** A task of the lowest priority, after a frame. Unlike an idle callback, it is never put off. */
const handled = `new Promise((done) => {
  requestAnimationFrame(() => scheduler.postTask(done, { priority: 'background' }));
})`;

/** Resolves when the page has handled each event and response so far, and has drawn the result. */
export async function idle(page: Page): Promise<void> {
  await page.evaluate(handled);
}

/** The page of the current address is shown, with its data instead of placeholders. */
export async function settled(page: Page): Promise<void> {
  await shown(page);
  await until(async () => (await page.locator('[aria-busy="true"]').count()) === 0, {
    what: `the data of ${page.url()}`,
  });
  await idle(page);
}

/** The axe violations of the page when it is settled, each with the first element that has it. */
export async function findViolations(page: Page): Promise<string[]> {
  await settled(page);
  await page.evaluate(axe.source);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  );
}

/** The problems of the current page in both themes, wide and narrow. */
export async function findProblems(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  const problems: string[] = [];
  for (const [colorScheme, width] of layouts) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const found = await findViolations(page);
    problems.push(...found.map((problem) => `${colorScheme}, ${width}: ${problem}`));
    const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
    if (wide > width) problems.push(`the page is ${wide} wide, on a screen of ${width}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
  return problems;
}

const layouts = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const;

const screenshots = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));

/** `npm run screenshots` renews the images in `docs/screenshots/`. */
export async function draw(page: Page, name: string): Promise<void> {
  if (process.env.PAWL_SCREENSHOTS !== '1') return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, animations: 'disabled' });
}

const drawn = [
  ['light', 'light', 1280, 800],
  ['dark', 'dark', 1280, 800],
  ['narrow', 'light', 390, 844],
  ['narrow-dark', 'dark', 390, 844],
] as const;

/** Draws the current page in both themes, wide and narrow. */
export async function drawAll(page: Page, name: string): Promise<void> {
  if (process.env.PAWL_SCREENSHOTS !== '1') return;
  const before = page.viewportSize();
  for (const [look, colorScheme, width, height] of drawn) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await draw(page, `${name}-${look}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
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
