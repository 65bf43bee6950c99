/**
 * How fast a domain is read, decided from what it last answered. A domain that defends itself or
 * asks for less is read one page at a time and further apart, twice as far each time it says so
 * again. It recovers in steps, one for each page that it gives: first the distance shrinks, and
 * only when that is back to normal may pages be read side by side again.
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

/** How a domain is read that has not asked for anything else. */
export const normalPace: GateLimits = {
  concurrency: domainConcurrencyMax,
  intervalMs: domainIntervalMs,
};

/** The pace that an owner allows for a domain, by its name. */
export type Paces = Readonly<Record<string, GateLimits>>;

/** After each page that a slowed-down domain gives, its distance shrinks by this factor. */
const recovery = 0.75;

export interface PaceInput {
  readonly current: GateLimits;
  /** What the domain answered; undefined where it gave the page. */
  readonly failure: Failure | undefined;
  /** What its robots.txt asks for. */
  readonly crawlDelayMs: number | undefined;
  /** What it recovers to. */
  readonly normal?: GateLimits | undefined;
}

/** Undefined: the pace is right as it is. */
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
  // What failed for other reasons says nothing about the pace, but robots.txt may have.
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
