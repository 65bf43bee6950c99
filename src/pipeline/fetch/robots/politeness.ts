/**
 * The rate limit of a domain, decided from its last response. After an anti-bot signal or a request
 * to slow down, the domain is read one page at a time, with a delay that doubles on each
 * repetition. It recovers in steps, one per successful page: first the delay shrinks, and only when
 * it is back to normal does the concurrency rise.
 */
import { type Failure, isAntiBot } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { GateLimits } from '../../../store/item/gates.ts';

export interface Pace extends GateLimits {
  /** One sentence for the history. */
  readonly reason: string;
}

const { domainConcurrencyMax, domainIntervalMs, slowestDomainIntervalMs } = limits.fetch;
const { guardedDomainConcurrencyMax, guardedDomainIntervalMs } = limits.fetch;

/** The default rate limit of a domain. */
export const normalPace: GateLimits = {
  concurrency: domainConcurrencyMax,
  intervalMs: domainIntervalMs,
};

/** Configured rate limits by domain. */
export type Paces = Readonly<Record<string, GateLimits>>;

/** After each page of a slowed-down domain, its delay shrinks by this factor. */
const recovery = 0.75;

export interface PaceInput {
  readonly current: GateLimits;
  /** The failure of the page; undefined if it succeeded. */
  readonly failure: Failure | undefined;
  /** The crawl delay of its robots.txt. */
  readonly crawlDelayMs: number | undefined;
  /** The limit that it recovers to. */
  readonly normal?: GateLimits | undefined;
}

/** Undefined if the limit does not change. */
export function paceAfter(input: PaceInput): Pace | undefined {
  const { current, failure, crawlDelayMs = 0, normal = normalPace } = input;
  const normalMs = Math.max(normal.intervalMs, crawlDelayMs);
  if (failure === undefined) {
    return changed(current, recovered(current, { ...normal, intervalMs: normalMs }));
  }
  if (isAntiBot(failure.code)) {
    return changed(current, slowed(current, guardedDomainIntervalMs, failure));
  }
  if (failure.code === 'http_429') {
    const leastMs = Math.max(normalMs, domainIntervalMs) * 2;
    return changed(current, slowed(current, leastMs, failure));
  }
  // Other failures do not affect the rate limit, but robots.txt may.
  const intervalMs = Math.max(current.intervalMs, normalMs);
  return changed(current, { ...current, intervalMs, reason: 'robots.txt asks for this distance' });
}

function slowed(current: GateLimits, leastMs: number, { code }: Failure): Pace {
  const intervalMs = Math.min(Math.max(leastMs, current.intervalMs * 2), slowestDomainIntervalMs);
  const reason = `${code}: one page at a time, ${intervalMs} ms apart`;
  return { concurrency: guardedDomainConcurrencyMax, intervalMs, reason };
}

function recovered(current: GateLimits, normal: GateLimits): Pace {
  const { concurrency } = current;
  if (current.intervalMs !== normal.intervalMs) {
    const intervalMs = Math.max(normal.intervalMs, Math.floor(current.intervalMs * recovery));
    return { concurrency, intervalMs, reason: `a page was given: ${intervalMs} ms apart` };
  }
  const next = Math.min(concurrency + 1, normal.concurrency);
  return { ...current, concurrency: next, reason: `pages are given: ${next} at a time` };
}

function changed(current: GateLimits, next: Pace): Pace | undefined {
  const { concurrency, intervalMs } = current;
  return next.concurrency === concurrency && next.intervalMs === intervalMs ? undefined : next;
}
