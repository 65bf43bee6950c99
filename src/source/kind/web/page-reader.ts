/**
 * Reads pages for listings, one after the other, with the robots.txt and the rate limits that the
 * pages of jobs have. A page that has not changed costs one conditional request.
 */
import { Failure, isAntiBot, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { pause, type World } from '../../../kernel/world.ts';
import type { FeedReader } from '../../../pipeline/crawl/feed-text.ts';
import type { LinkFinder } from '../../../pipeline/crawl/page-links.ts';
import type { Rendering } from '../../../pipeline/fetch/browser/visible-page.ts';
import type { Fetcher, Validators } from '../../../pipeline/fetch/http/http.ts';
import { type Paces, paceAfter } from '../../../pipeline/fetch/robots/politeness.ts';
import { RobotsCheck } from '../../../pipeline/fetch/robots/robots-check.ts';
import { gateOf, readUrl } from '../../../pipeline/fetch/url.ts';
import { type FetchResponse, failureOf } from '../../../pipeline/fetch/verdict.ts';
import { bounds, type Visit, visitor } from '../../../pipeline/fetch/visit.ts';
import { getRobots, writeRobots } from '../../../store/crawl/robots.ts';
import type { Database } from '../../../store/driver/database.ts';
import { getGateLimits, heldUntil, holdGate, setGateLimits } from '../../../store/item/gates.ts';
import { type PageStamp, stampFrom, validatorsIn } from './page-stamp.ts';

export interface WebTools {
  readonly world: World;
  readonly fetcher: Fetcher;
  readonly rendering?: Rendering | undefined;
  /** Read what sites list: in this thread, or in others if it is long. */
  readonly finder: LinkFinder;
  readonly readFeed: FeedReader;
  readonly paces?: Paces | undefined;
  /** Shared by all listings of the process. */
  readonly turns: DomainTurns;
  /** Where robots.txt files and rate limits are stored. Opened when a listing begins. */
  readonly database: () => Database;
}

/** When each domain was asked last. Listings that ask the same one wait for each other. */
export class DomainTurns {
  readonly #last = new Map<string, Promise<number>>();

  /** `wait` gets the time of the last request, and returns that of the next one. */
  async take(gate: string, wait: (last: number | undefined) => Promise<number>): Promise<void> {
    const before = this.#last.get(gate);
    const next = (async () => wait(await before?.catch(() => undefined)))();
    this.#last.set(gate, next);
    await next;
  }
}

export interface ReadPage {
  readonly is: 'page';
  readonly bytes: Uint8Array;
  /** Undefined if it is not HTML, or its links must not be followed. */
  readonly html: string | undefined;
  /** The address after the last redirect. */
  readonly url: URL;
  /** Undefined: the site gave no validators. */
  readonly stamp: PageStamp | undefined;
}

/** `skipped`: it is there, and no document. */
export type PageOutcome =
  | ReadPage
  | { readonly is: 'same' }
  | { readonly is: 'gone' }
  | { readonly is: 'skipped' }
  | { readonly is: 'failed'; readonly failure: Failure };

const skippedCodes: ReadonlySet<string> = new Set([
  'robots_disallowed',
  'empty_source',
  'redirect_loop',
  'source_too_large',
  'unsupported_mime',
]);

export class PageReader {
  readonly #tools: WebTools;
  readonly #signal: AbortSignal;
  readonly robots: RobotsCheck;

  constructor(tools: WebTools, signal: AbortSignal) {
    const { fetcher, world } = tools;
    this.#tools = tools;
    this.#signal = signal;
    const stored = (origin: string) => getRobots(tools.database(), origin);
    this.robots = new RobotsCheck({ fetcher, signal, now: world.now(), stored });
  }

  /** Reads a page, unless it is the one that the stamp is of. */
  async read(source: string, stamp?: string): Promise<PageOutcome> {
    const { fetcher, rendering, world } = this.#tools;
    const url = readUrl(source);
    try {
      await this.#turn(url);
    } catch (error) {
      this.#signal.throwIfAborted();
      return { is: 'failed', failure: toFailure(error) };
    }
    const visit = await visitor({ fetcher, rendering })({
      source,
      validators: validatorsIn(stamp),
      robots: this.robots,
      now: world.now(),
      signal: this.#signal,
    });
    await this.#learn(url, visit.failure);
    return outcomeOf(visit);
  }

  /** Reads a feed or a list as it is. Undefined: it has not changed. */
  async raw(
    source: string,
    { accept, validators }: { readonly accept: string; readonly validators?: Validators },
  ): Promise<FetchResponse | undefined> {
    const { fetcher, world } = this.#tools;
    const url = readUrl(source);
    await this.#turn(url);
    const answer = await fetcher.get({
      url,
      accept,
      signal: this.#signal,
      bounds,
      validators,
      redirectsMax: limits.fetch.redirectsMax,
      beforeHop: (hop) => this.robots.admitBeside(hop),
    });
    const failure = failureOf(answer, world.now());
    await this.#learn(url, failure);
    if (failure) throw failure;
    return answer.status === 304 ? undefined : answer;
  }

  /** Waits until the domain may be asked again. */
  async #turn(url: URL): Promise<void> {
    const { world, database, turns } = this.#tools;
    const gate = gateOf(url);
    await turns.take(gate, async (last) => {
      const { intervalMs } = await getGateLimits(database(), gate);
      const apartMs = Math.max(intervalMs, this.robots.crawlDelayMs ?? 0);
      const dueAt = last === undefined ? 0 : last + apartMs;
      const waitMs = Math.max(dueAt, await heldUntil(database(), gate)) - world.now();
      if (waitMs > limits.sync.domainWaitMs) {
        const message = `nothing of ${gate} is read for another ${waitMs} ms`;
        throw new Failure('domain_held', message, { retryAfterMs: waitMs });
      }
      if (waitMs > 0) await pause(world, waitMs, this.#signal);
      this.#signal.throwIfAborted();
      return world.now();
    });
  }

  /** Stores what the visit has learned, as the visits of jobs do. */
  async #learn(url: URL, failure: Failure | undefined): Promise<void> {
    const { database, paces, world } = this.#tools;
    const gate = gateOf(url);
    const { crawlDelayMs } = this.robots;
    const fresh = this.robots.fresh.splice(0);
    const current = await getGateLimits(database(), gate);
    const pace = paceAfter({ current, failure, crawlDelayMs, normal: paces?.[gate] });
    const isRefused = failure && (isAntiBot(failure.code) || failure.code === 'http_429');
    const restMs = isRefused ? restOf(failure, pace?.intervalMs ?? current.intervalMs) : 0;
    if (fresh.length === 0 && !pace && restMs === 0) return;
    await database().write(async (transaction) => {
      for (const row of fresh) await writeRobots(transaction, row);
      const now = world.now();
      if (restMs > 0) await holdGate(transaction, { name: gate, until: now + restMs });
      if (pace) await setGateLimits(transaction, { ...pace, name: gate }, now);
    });
  }
}

function restOf({ retryAfterMs = 0 }: Failure, intervalMs: number): number {
  return Math.max(Math.min(retryAfterMs, limits.wait.retryAfterMsMax), intervalMs);
}

function outcomeOf({ answer, shown, failure }: Visit): PageOutcome {
  if (failure) {
    const { code } = failure;
    if (code === 'http_404' || code === 'http_410') return { is: 'gone' };
    return skippedCodes.has(code) ? { is: 'skipped' } : { is: 'failed', failure };
  }
  if (!shown) return { is: 'same' };
  const { content, isRendered } = shown;
  const { bytes, mediaType } = content;
  const isFollowed = !/\b(?:nofollow|none)\b/i.test(answer.headers.get('x-robots-tag') ?? '');
  const html =
    mediaType === 'text/html' && isFollowed ? new TextDecoder().decode(bytes) : undefined;
  // The version of a shell says nothing about the content that its scripts load.
  const stamp = isRendered ? undefined : stampFrom(shown.answer);
  return { is: 'page', bytes, html, url: shown.answer.url, stamp };
}

/** The content of one page, for a document that was listed without it. */
export async function readPage(
  tools: WebTools,

  key: string,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const found = await new PageReader(tools, signal).read(key);
  if (found.is === 'failed') throw found.failure;
  return found.is === 'page' ? found.bytes : undefined;
}
