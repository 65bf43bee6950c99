/** The refusal of a request that is over the limit of its caller. */
import type { RateDecision } from '../access/access.ts';
import { Failure } from '../kernel/failure/failure.ts';

export function refuseOverLimit(decision: RateDecision): void {
  if (decision.allowed) return;
  const retryAfterMs = decision.retryAfterSeconds * 1000;
  const message = `more than ${decision.limit} requests within ${spanOf(decision.windowSeconds)}`;
  throw new Failure('rate_limit_hit', message, { retryAfterMs });
}

function spanOf(seconds: number): string {
  if (seconds === 3600) return 'an hour';
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}
