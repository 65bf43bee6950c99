/**
 * How many requests a caller may send. By default all callers share the capacity fairly; if
 * Membership gives a tier or limits, those apply instead.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { CallerContext } from '../caller.ts';
import { claimedLimit } from '../membership/claims.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
  /** Allowed on top of the requests. */
  readonly burst: number;
}

export interface Strategy {
  /** `activeCallers`: the number of callers seen within the window, including this one. */
  limitOf(caller: CallerContext, activeCallers: number): RateLimit;
}

export interface FairShareOptions {
  readonly capacity: number;
  readonly floor: number;
  readonly burstFactor: number;
  readonly internalFactor: number;
}

const windowSeconds = limits.rate.windowMs / 1000;

export const standardShare: FairShareOptions = {
  capacity: limits.rate.capacityRequests,
  floor: limits.rate.floorRequests,
  burstFactor: limits.rate.burstFactor,
  internalFactor: limits.rate.internalFactor,
};

/** An equal share of the capacity for each active caller, never below the floor. */
export function fairShareStrategy(options: FairShareOptions): Strategy {
  const { capacity, floor, burstFactor, internalFactor } = options;
  return {
    limitOf(caller, activeCallers) {
      if (caller.internal) return { requests: floor * internalFactor, windowSeconds, burst: 0 };
      const requests = Math.max(floor, Math.floor(capacity / Math.max(1, activeCallers)));
      return { requests, windowSeconds, burst: Math.floor(requests * burstFactor) - requests };
    },
  };
}

/** The limits in the claims, or those of the tier. An unknown tier has the floor. */
export function membershipTierStrategy(
  tiers: Readonly<Record<string, number>>,
  floor: number,
): Strategy {
  return {
    limitOf(caller) {
      const claimed = claimedLimit(caller.rawClaims);
      if (claimed !== undefined) return claimed;
      const { tier } = caller;
      const requests = tier !== null && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
      return { requests: requests ?? floor, windowSeconds, burst: 0 };
    },
  };
}

/** Fair share until Membership gives claims about the caller. */
export function compositeStrategy(fairShare: Strategy, membershipTier: Strategy): Strategy {
  return {
    limitOf(caller, activeCallers) {
      const isClaimed = caller.tier !== null || claimedLimit(caller.rawClaims) !== undefined;
      return (isClaimed ? membershipTier : fairShare).limitOf(caller, activeCallers);
    },
  };
}
