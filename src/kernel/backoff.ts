/** How often a step is tried, and how long it waits in between. */
import { type FailureCode, isAntiBot } from './failure.ts';
import type { Stage } from './stage.ts';

export interface RetryPolicy {
  /** All tries, the first one included. */
  readonly attemptsMax: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
}

export const defaultPolicy: RetryPolicy = {
  attemptsMax: 7,
  baseMs: 2_000,
  factor: 2,
  capMs: 300_000,
};

export const stagePolicies: Readonly<Record<Stage, RetryPolicy>> = {
  scraping: { ...defaultPolicy, attemptsMax: 1 + 3 },
  chunking: defaultPolicy,
  embedding: { ...defaultPolicy, attemptsMax: 1 + 5 },
};

/** A site that defends itself is met slowly: a quick return would confirm its suspicion. */
export const antiBotPolicy: RetryPolicy = { ...defaultPolicy, baseMs: 30_000, capMs: 900_000 };

export function retryPolicyFor(stage: Stage, code: FailureCode): RetryPolicy {
  return isAntiBot(code) ? antiBotPolicy : stagePolicies[stage];
}

export interface BackoffInput extends Omit<RetryPolicy, 'attemptsMax'> {
  /** Tries that failed before the one that failed now: 0 after the first. */
  readonly attempt: number;
  readonly random: () => number;
}

/**
 * Full jitter: anywhere between nothing and the exponential ceiling. Whole milliseconds.
 * Items that failed together must not come back together.
 */
export function backoffMs(input: BackoffInput): number {
  return Math.floor(Math.min(Math.max(input.random(), 0), 1) * ceilingMs(input));
}

/** The longest wait after this many failures. */
export function ceilingMs({
  attempt,
  baseMs,
  factor,
  capMs,
}: Omit<BackoffInput, 'random'>): number {
  const growth = factor ** Math.max(attempt, 0);
  // Far out the power is infinite, which is fine for the minimum but not for a base of zero.
  return baseMs === 0 ? 0 : Math.min(baseMs * growth, capMs);
}
