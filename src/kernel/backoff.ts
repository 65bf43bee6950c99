/** How often a step is tried, and how long it waits between tries. */
import { type FailureCode, isAntiBot } from './failure/failure.ts';
import type { Stage } from './lifecycle/stage.ts';

export interface RetryPolicy {
  /** All tries, including the first. */
  readonly triesMax: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
}

export const defaultPolicy: RetryPolicy = {
  triesMax: 7,
  baseMs: 2_000,
  factor: 2,
  capMs: 300_000,
};

/**
 * Every stage keeps trying for about a minute, so that a short outage of one site or provider fails
 * no document (docs/decisions/0084). Scraping has only three retries, so they are spread further
 * apart.
 */
export const stagePolicies: Readonly<Record<Stage, RetryPolicy>> = {
  scraping: { ...defaultPolicy, triesMax: 1 + 3, baseMs: 4_000, factor: 4 },
  chunking: defaultPolicy,
  embedding: { ...defaultPolicy, triesMax: 1 + 5 },
};

/** Anti-bot protection: retry slowly, because a quick retry looks even more like a robot. */
export const antiBotPolicy: RetryPolicy = { ...defaultPolicy, baseMs: 30_000, capMs: 900_000 };

export function retryPolicyFor(stage: Stage, code: FailureCode): RetryPolicy {
  return isAntiBot(code) ? antiBotPolicy : stagePolicies[stage];
}

export interface BackoffInput extends Omit<RetryPolicy, 'triesMax'> {
  /** Failed tries before the current failure: 0 after the first. */
  readonly failedTries: number;
  readonly random: () => number;
}

/**
 * Equal jitter: between half the exponential ceiling and the full ceiling, in whole milliseconds.
 * The random half keeps items that failed together from retrying together; the fixed half keeps
 * unlucky numbers from using up all tries within a second.
 */
export function backoffMs(input: BackoffInput): number {
  const ceiling = ceilingMs(input);
  const chance = Math.min(Math.max(input.random(), 0), 1);
  return Math.floor((ceiling / 2) * (1 + chance));
}

/** The longest wait after this many failures. */
export function ceilingMs({
  failedTries,
  baseMs,
  factor,
  capMs,
}: Omit<BackoffInput, 'random'>): number {
  const growth = factor ** Math.max(failedTries, 0);
  // For large exponents the power is infinite. The minimum handles that, except for a base of zero.
  return baseMs === 0 ? 0 : Math.min(baseMs * growth, capMs);
}
