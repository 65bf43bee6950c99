/**
 * How much a caller may ask for. Today all callers share the capacity fairly; when Membership names
 * a tier or limits of its own, those hold instead.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { CallerContext } from '../caller.ts';
import { claimedLimit } from '../membership/claims.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
  /** What may come on top of the requests. */
  readonly burst: number;
}

export interface Strategy {
  /** `activeCallers`: how many callers were seen within the window, this one included. */
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

/** An equal part of the capacity for each active caller, never less than the floor. */
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

/** The limits in the claims, or those of the tier. A tier that is not known has the floor. */
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

/** Fair share until Membership says something about the caller. */
export function compositeStrategy(fairShare: Strategy, membershipTier: Strategy): Strategy {
  return {
    limitOf(caller, activeCallers) {
      const isClaimed = caller.tier !== null || claimedLimit(caller.rawClaims) !== undefined;
      return (isClaimed ? membershipTier : fairShare).limitOf(caller, activeCallers);
    },
  };
}
