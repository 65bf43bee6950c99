/**
 * Renders one page in a browser context of its own, which is destroyed afterwards: no cookie, cache
 * or worker remains. The browser has no network. Each request of the page is intercepted, checked,
 * and read by the same fetcher as any page: addresses, redirects, sizes and robots.txt are checked
 * as everywhere. Pages only read: GET only, and no images, audio or video.
 */
import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core';
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { pause, type World } from '../../../kernel/world.ts';
import type { Fetcher } from '../http/http.ts';
import { race } from '../http/race.ts';
import { readUrl } from '../url.ts';
import type { Rendered, RenderRequest } from './render.ts';

export interface VisitOptions {
  readonly browser: Browser;
  readonly fetcher: Fetcher;
  readonly world: World;
  /** The whole browser is gone or unusable, not only the process of a page. */
  readonly onLost: () => void;
}

export async function visit(
  request: RenderRequest,
  { browser, fetcher, world, onLost }: VisitOptions,
): Promise<Rendered> {
  const ending = new AbortController();
  const { renderMs } = limits.browser;
  const cancel = world.setTimer(() => {
    const message = `${request.url.host} was not shown within ${renderMs} ms`;
    ending.abort(new Failure('timeout_soft', message));
  }, renderMs);
  const crash = (): void => ending.abort(crashed(request.url));
  browser.once('disconnected', crash);
  const signal = AbortSignal.any([request.signal, ending.signal]);
  let context: BrowserContext | undefined;
  let isOnlyPage = false;
  try {
    context = await race(browser.newContext(contextOptions), signal);
    const page = await race(context.newPage(), signal);
    page.once('crash', () => {
      isOnlyPage = true;
      crash();
    });
    const fail = (error: unknown): void => ending.abort(toFailure(error));
    const traffic = new Traffic({ ...request, signal }, { page, fetcher, fail });
    return await race(show(page, traffic, { request, signal, world }), signal);
  } catch (error) {
    const unknown = browser.isConnected() ? unshown(error, request.url) : crashed(request.url);
    const failure: unknown = signal.aborted ? signal.reason : unknown;
    if (!isOnlyPage && toFailure(failure).code === 'browser_crash') onLost();
    throw failure;
  } finally {
    cancel();
    browser.off('disconnected', crash);
    if (context) await close(context, world);
  }
}

const contextOptions = {
  serviceWorkers: 'block',
  acceptDownloads: false,
  permissions: [] as string[],
} as const;

interface Showing {
  readonly request: RenderRequest;
  readonly signal: AbortSignal;
  readonly world: World;
}

async function show(
  page: Page,
  traffic: Traffic,
  { request, signal, world }: Showing,
): Promise<Rendered> {
  const context = page.context();
  await context.addInitScript(removeSideDoors);
  await context.routeWebSocket(/.*/, (socket) => socket.close());
  // Requests of other windows and of shared workers are refused: they are not part of the page.
  await context.route(/.*/, (route) => route.abort('blockedbyclient').catch(() => undefined));
  context.on('page', (other) => {
    if (other !== page) other.close().catch(() => undefined);
  });
  await page.route(/.*/, (route) => traffic.serve(route));
  await page.goto(request.url.href, { waitUntil: 'domcontentloaded', timeout: 0 });
  await settle(traffic, { signal, world });
  const html = await page.content();
  if (html.length > limits.document.sourceBytesMax) {
    throw new Failure('source_too_large', `${request.url.host} shows ${html.length} characters`);
  }
  const { requests, refused, bytes } = traffic;
  return { url: whereItIs(page, request.url), html, requests, refused, bytes };
}

/** Network APIs besides requests. They lead nowhere; removing them avoids their retries. */
function removeSideDoors(): void {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) {
    Reflect.deleteProperty(globalThis, name);
  }
}

/** Waits until the page has sent no request for a while, or its time is over. */
async function settle(
  traffic: Traffic,
  { signal, world }: Pick<Showing, 'signal' | 'world'>,
): Promise<void> {
  const { quietMs, settleMs } = limits.browser;
  const endsAt = world.now() + settleMs;
  for (let seen = -1; world.now() < endsAt && !signal.aborted; ) {
    if (traffic.open === 0 && traffic.requests === seen) return;
    seen = traffic.requests;
    await pause(world, quietMs, signal);
  }
}

function whereItIs(page: Page, asked: URL): URL {
  const place = page.url();
  return /^https?:/.test(place) && URL.canParse(place) ? readUrl(place) : asked;
}

/** The resource types a page may request: those that can produce text. */
const wanted: readonly string[] = ['document', 'script', 'stylesheet', 'xhr', 'fetch'];

/** Headers about the bytes on the wire; our response is decompressed. */
const ofTheWire = ['content-encoding', 'content-length', 'transfer-encoding', 'connection'];

interface TrafficOptions {
  readonly page: Page;
  readonly fetcher: Fetcher;
  /** No caller awaits a response to the page: its error ends the visit. */
  readonly fail: (error: unknown) => void;
}

class Traffic {
  readonly #request: RenderRequest;
  readonly #page: Page;
  readonly #fetcher: Fetcher;
  readonly #fail: (error: unknown) => void;
  #isShown = false;
  /** Requests in flight. */
  open = 0;
  requests = 0;
  refused = 0;
  bytes = 0;

  constructor(request: RenderRequest, { page, fetcher, fail }: TrafficOptions) {
    this.#request = request;
    this.#page = page;
    this.#fetcher = fetcher;
    this.#fail = fail;
  }

  /** Serves one request of the page. A page that is gone ignores the response. */
  async serve(route: Route): Promise<void> {
    this.open += 1;
    try {
      await this.#answer(route);
    } catch (error) {
      if (!this.#page.isClosed()) this.#fail(error);
    } finally {
      this.open -= 1;
    }
  }

  async #answer(route: Route): Promise<void> {
    const asked = route.request();
    if (this.#isThePage(asked)) {
      this.#isShown = true;
      const headers = { ...shownHeaders(this.#request.headers), 'content-type': utf8Page };
      return route.fulfill({ status: 200, headers, body: Buffer.from(this.#request.bytes) });
    }
    this.requests += 1;
    if (!this.#isWanted(asked)) return this.#refuse(route);
    try {
      const { status, headers, bytes } = await this.#read(asked);
      this.bytes += bytes.length;
      const body = Buffer.from(bytes);
      return await route.fulfill({ status, headers: shownHeaders(headers), body });
    } catch (error) {
      // The page navigates to a forbidden address: that is not a fault of the browser.
      if (this.#isForbidden(asked, error)) throw error;
      // An unreadable resource is missing on the page, as in any browser.
      if (error instanceof Failure) return this.#refuse(route);
      throw error;
    }
  }

  #isForbidden(asked: Request, error: unknown): boolean {
    const isPage = asked.isNavigationRequest() && asked.frame() === this.#page.mainFrame();
    return isPage && error instanceof Failure && error.code === 'private_address';
  }

  #refuse(route: Route): Promise<void> {
    this.refused += 1;
    return route.abort('blockedbyclient');
  }

  /** True for the first request only: a page that reloads itself is read again. */
  #isThePage(asked: Request): boolean {
    const isSame = asked.url() === this.#request.url.href && asked.method() === 'GET';
    return !this.#isShown && isSame && asked.isNavigationRequest();
  }

  #isWanted(asked: Request): boolean {
    const { requestsMax, bytesMax } = limits.browser;
    if (this.requests > requestsMax || this.bytes >= bytesMax) return false;
    if (asked.method() !== 'GET' || !wanted.includes(asked.resourceType())) return false;
    // Frames are other documents: their text is not part of the page.
    return !asked.isNavigationRequest() || asked.frame() === this.#page.mainFrame();
  }

  #read(asked: Request): ReturnType<Fetcher['get']> {
    const { answerBytesMax, bytesMax } = limits.browser;
    const left = Math.min(answerBytesMax, bytesMax - this.bytes);
    const { accept = '*/*', origin } = asked.headers();
    return this.#fetcher.get({
      url: readUrl(asked.url()),
      accept,
      ...(origin !== undefined && origin !== 'null' && { origin }),
      signal: this.#request.signal,
      redirectsMax: limits.fetch.redirectsMax,
      bounds: { wireBytesMax: left, bytesMax: left, beyond: 'fail' },
      beforeHop: this.#request.admit,
    });
  }
}

const utf8Page = 'text/html; charset=utf-8';

function shownHeaders(headers: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !ofTheWire.includes(name)));
}

function crashed({ host }: URL): Failure {
  return new Failure('browser_crash', `the browser died while it showed ${host}`);
}

function unshown(error: unknown, { host }: URL): Failure {
  if (error instanceof Failure) return error;
  return new Failure('browser_crash', `the browser could not show ${host}`, { cause: error });
}

/** A page whose scripts never end may block its context: after a timeout the browser is killed. */
async function close(context: BrowserContext, world: World): Promise<void> {
  const late = new AbortController();
  const cancel = world.setTimer(() => late.abort(), limits.browser.closeMs);
  await race(context.close(), late.signal)
    .catch(() => context.browser()?.close())
    .finally(cancel);
}
