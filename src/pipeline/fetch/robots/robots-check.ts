/**
 * Checks robots.txt before each address is read: from the store while it is fresh, else from the
 * site. Errors follow RFC 9309: a site without the file allows everything, and one whose file
 * cannot be reached allows nothing for now, unless an older copy is known.
 */

import { TimeSlice } from '../../../concurrency/time-slice.ts';
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { RobotsRow } from '../../../store/crawl/robots.ts';
import { type Fetcher, productToken } from '../http/http.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import { decide, parseRobots, type Robots, type RobotsDecision } from './robots.ts';

export interface RobotsCheckOptions {
  readonly fetcher: Fetcher;
  /** Stored robots.txt responses, by origin. */
  readonly stored: (origin: string) => Promise<RobotsRow | undefined>;
  readonly signal: AbortSignal;
  readonly now: number;
}

/** What a visit has learned about a site's robots.txt. */
export interface LearnedRobots {
  /** New robots.txt responses, to be stored with the step. */
  readonly fresh: readonly RobotsRow[];
  /** The decision on the page, as text. */
  readonly decision: string | undefined;
  /** The crawl delay of the first site. */
  readonly crawlDelayMs: number | undefined;
  readonly sitemaps: readonly string[];
}

/** The checks of one visit: cached, so that a redirect within a site requests nothing twice. */
export class RobotsCheck implements LearnedRobots {
  readonly #options: RobotsCheckOptions;
  readonly #known = new Map<string, Promise<Robots>>();
  readonly fresh: RobotsRow[] = [];
  decision: string | undefined;
  crawlDelayMs: number | undefined;
  sitemaps: readonly string[] = [];

  constructor(options: RobotsCheckOptions) {
    this.#options = options;
  }

  /** The stored robots.txt of a site, however old. */
  stored(origin: string): Promise<RobotsRow | undefined> {
    return this.#options.stored(origin);
  }

  /** Takes over what another process has learned by making the visit. */
  adopt({ fresh, decision, crawlDelayMs, sitemaps }: LearnedRobots): void {
    this.fresh.push(...fresh);
    for (const row of fresh) this.#known.set(row.origin, Promise.resolve(robotsIn(row)));
    this.decision = decision;
    this.crawlDelayMs = crawlDelayMs;
    this.sitemaps = sitemaps;
  }

  /** Throws unless the address may be read. */
  async admit(url: URL): Promise<void> {
    const { isAllowed, rule } = await this.check(url);
    this.decision = `${isAllowed ? 'allowed' : 'disallowed'}: ${rule ?? 'no rule speaks of it'}`;
    if (!isAllowed) throw disallowed(url, rule);
  }

  /** Like `admit`, for resources of the page: the recorded decision stays that of the page. */
  async admitBeside(url: URL): Promise<void> {
    const { isAllowed, rule } = await this.check(url);
    if (!isAllowed) throw disallowed(url, rule);
  }

  async check(url: URL): Promise<RobotsDecision> {
    return decide(await this.#robotsOf(url.origin), url);
  }

  /**
   * The pages that may be read, as far as it is known without a request. If there are so many links
   * and rules that comparing them takes long, the last pages pass: they are checked when they are
   * read.
   */
  async allowedOf<Page extends { readonly url: string }>(pages: readonly Page[]): Promise<Page[]> {
    const allowed: Page[] = [];
    const slice = new TimeSlice();
    let compared = 0;
    for (const page of pages) {
      if (slice.isOver) await slice.next();
      const url = new URL(page.url);
      const robots = await this.#knownOf(url.origin);
      compared += robots?.ruleCharacters ?? 0;
      const isBeyond = compared > limits.fetch.robotsComparedMax;
      if (!robots || isBeyond || (await decide(robots, url)).isAllowed) allowed.push(page);
    }
    return allowed;
  }

  /** The rules requested by this visit, or recently by another. */
  async #knownOf(origin: string): Promise<Robots | undefined> {
    const asked = this.#known.get(origin);
    if (asked) return asked;
    const stored = await this.#options.stored(origin);
    if (!stored || this.#options.now - stored.fetched_at >= limits.fetch.robotsTtlMs) {
      return undefined;
    }
    const robots = Promise.resolve(robotsIn(stored));
    this.#known.set(origin, robots);
    return robots;
  }

  #robotsOf(origin: string): Promise<Robots> {
    const known = this.#known.get(origin);
    if (known) return known;
    const asked = this.#readRobots(origin, this.#known.size === 0);
    this.#known.set(origin, asked);
    return asked;
  }

  async #readRobots(origin: string, isFirst: boolean): Promise<Robots> {
    const robots = robotsIn(await this.#rowOf(origin));
    if (isFirst) {
      this.crawlDelayMs = robots.crawlDelayMs;
      this.sitemaps = robots.sitemaps;
    }
    return robots;
  }

  async #rowOf(origin: string): Promise<RobotsRow> {
    const { now } = this.#options;
    const stored = await this.#options.stored(origin);
    if (stored && now - stored.fetched_at < limits.fetch.robotsTtlMs) return stored;
    try {
      const row = await this.#ask(origin);
      this.fresh.push(row);
      return row;
    } catch (error) {
      if (stored && !this.#options.signal.aborted) return stored;
      throw error;
    }
  }

  async #ask(origin: string): Promise<RobotsRow> {
    const { fetcher, signal, now } = this.#options;
    const url = new URL('/robots.txt', origin);
    const { robotsBytesMax, robotsRedirectsMax } = limits.fetch;
    const bounds = {
      wireBytesMax: robotsBytesMax,
      bytesMax: robotsBytesMax,
      beyond: 'cut',
    } as const;
    const row = { origin, fetched_at: now };
    try {
      const request = { url, accept: 'text/plain, */*;q=0.1', signal, bounds };
      const answer = await fetcher.get({ ...request, redirectsMax: robotsRedirectsMax });
      const { status, headers } = answer;
      if (status === 429 || status >= 500)
        throw unreachable(url, `answered ${status}`, headers, now);
      // Postgres accepts no NUL in a text, and no rule contains one.
      const body = new TextDecoder().decode(answer.bytes).replaceAll('\0', '');
      return { ...row, status, body: status < 300 ? body : '' };
    } catch (error) {
      const failure = toFailure(error);
      // A file behind too many redirects, or behind an invalid one, counts as absent.
      if (isMisled(failure)) return { ...row, status: 404, body: '' };
      if (failure.code !== 'bad_response') throw failure;
      throw unreachable(url, failure.message, new Map(), now);
    }
  }
}

function robotsIn({ status, body }: RobotsRow): Robots {
  const isFile = status >= 200 && status < 300;
  return parseRobots(isFile ? body : '', productToken);
}

function disallowed(url: URL, rule: string | undefined): Failure {
  const message = `the robots.txt of ${url.host} has the rule "${rule}" for ${productToken}`;
  return new Failure('robots_disallowed', message);
}

function unreachable(
  url: URL,
  why: string,
  headers: ReadonlyMap<string, string>,
  now: number,
): Failure {
  const message = `the robots.txt of ${url.host} is not to be had (${why}), so nothing is read`;
  return new Failure('network_error', message, {
    retryAfterMs: retryAfterMs(headers.get('retry-after'), now),
  });
}

function isMisled({ code }: Failure): boolean {
  return code === 'redirect_loop' || code === 'invalid_url';
}
