/** Decides what follows from the outcome of a step: one pure function, and the only place. */
import { backoffMs, type RetryPolicy } from './backoff.ts';
import { type Failure, type FailureCode, type FailureKind, isOutage } from './failure/failure.ts';
import { limits } from './limits/limits.ts';

export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: FailureKind; readonly failure: Failure };

export type Reaction =
  | { readonly do: 'advance' }
  /** The same step again later; uses no retry. */
  | { readonly do: 'wait'; readonly dueAt: number; readonly reason: string }
  /** The same step again later; `failedTries` is the number of failed tries so far. */
  | {
      readonly do: 'retry';
      readonly dueAt: number;
      readonly failedTries: number;
      readonly reason: string;
    }
  | { readonly do: 'fail'; readonly code: FailureCode; readonly reason: string };

export interface ReactionInput {
  readonly outcome: Outcome;
  /** Failed tries of this step before the current one. */
  readonly failedTries: number;
  readonly policy: RetryPolicy;
  readonly now: number;
  readonly random: () => number;
}

export function react({ outcome, failedTries, policy, now, random }: ReactionInput): Reaction {
  if (outcome.kind !== 'ok' && outcome.failure.isFinal) {
    return failWith(outcome.failure, finalWords(outcome.failure));
  }
  switch (outcome.kind) {
    case 'ok':
      return { do: 'advance' };
    case 'rate_limited':
      return waitFor(outcome.failure, now);
    case 'transient':
      return isOutage(outcome.failure.code)
        ? waitForOutage(outcome.failure, now, random)
        : retryOrFail(outcome.failure, { failedTries, policy, now, random });
    case 'schema_invalid':
      return failWith(outcome.failure, 'the same input would give the same output');
    case 'fatal':
      return failWith(outcome.failure, 'a retry would fail the same way');
  }
}

function waitFor(failure: Failure, now: number): Reaction {
  const asked = askedMs(failure);
  const { retryAfterMsMin, retryAfterMsDefault } = limits.wait;
  const waitMs = Math.max(asked ?? retryAfterMsDefault, retryAfterMsMin);
  const why = asked === undefined ? 'by default' : 'as requested';
  return {
    do: 'wait',
    dueAt: now + waitMs,
    reason: `${failure.code}: waits ${inSeconds(waitMs)} ${why}; uses no retry`,
  };
}

/**
 * Waits a random time between two bounds, so that a recovering service is not hit by every worker
 * at once.
 */
function waitForOutage(failure: Failure, now: number, random: () => number): Reaction {
  const { outageMsMin, outageMsMax } = limits.wait;
  const spread = Math.floor(random() * (outageMsMax - outageMsMin));
  const waitMs = Math.max(outageMsMin + spread, askedMs(failure) ?? 0);
  const again = `checked again in ${inSeconds(waitMs)} until the outage ends`;
  return {
    do: 'wait',
    dueAt: now + waitMs,
    reason: `${failure.code}: ${again}; uses no retry`,
  };
}

function retryOrFail(failure: Failure, input: Omit<ReactionInput, 'outcome'>): Reaction {
  const { failedTries, policy, now, random } = input;
  const failed = failedTries + 1;
  if (failed >= policy.triesMax) {
    return failWith(failure, `gave up after ${failed} ${failed === 1 ? 'try' : 'tries'}`);
  }
  // An origin that is down may say for how long: an earlier retry would be wasted.
  const waitMs = Math.max(backoffMs({ ...policy, failedTries, random }), askedMs(failure) ?? 0);
  const next = `try ${failed + 1} of ${policy.triesMax}`;
  return {
    do: 'retry',
    dueAt: now + waitMs,
    failedTries: failed,
    reason: `${failure.code}: ${next} in ${inSeconds(waitMs)}`,
  };
}

function finalWords({ tries }: Failure): string {
  return tries === 1 ? 'the worker gave up' : `the worker gave up after ${tries} tries`;
}

function failWith(failure: Failure, why: string): Reaction {
  return { do: 'fail', code: failure.code, reason: `${failure.code}: ${why}` };
}

/** The wait that the other side requested, if it is plausible. */
function askedMs({ retryAfterMs }: Failure): number | undefined {
  if (retryAfterMs === undefined || !(retryAfterMs >= 0)) return undefined;
  return Math.ceil(Math.min(retryAfterMs, limits.wait.retryAfterMsMax));
}

function inSeconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}

const strength: Readonly<Record<Reaction['do'], number>> = {
  advance: 0,
  wait: 1,
  retry: 2,
  fail: 3,
};

/**
 * Combines the reactions of several branches: fail beats retry beats wait beats advance. Among
 * equals the latest `dueAt` wins, then the first. An empty list advances.
 */
export function strongest(reactions: readonly Reaction[]): Reaction {
  const start: Reaction = { do: 'advance' };
  return reactions.reduce((best, next) => (isStronger(next, best) ? next : best), start);
}

function isStronger(next: Reaction, best: Reaction): boolean {
  if (next.do !== best.do) return strength[next.do] > strength[best.do];
  return 'dueAt' in next && 'dueAt' in best && next.dueAt > best.dueAt;
}
