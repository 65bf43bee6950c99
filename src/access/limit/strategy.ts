/**
 * How many requests a caller may send. By default all callers share the capacity fairly; if
 * Membership gives a tier or limits, those apply instead.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { CallerContext } from '../caller.ts';
import { claimedLimit, type RateLimit } from '../membership/claims.ts';

/** `activeCallers`: the number of callers seen within the window, including this one. */
export type Strategy = (caller: CallerContext, activeCallers: number) => RateLimit;

const windowSeconds = limits.rate.windowMs / 1000;

interface FairShare {
  readonly capacity: number;
  readonly floor: number;
  readonly burstFactor: number;
  readonly internalFactor: number;
}

export const standardShare: FairShare = {
  capacity: limits.rate.capacityRequests,
  floor: limits.rate.floorRequests,
  burstFactor: limits.rate.burstFactor,
  internalFactor: limits.rate.internalFactor,
};

/** An equal share of the capacity for each active caller, never below the floor. */
export function fairShareStrategy(options: FairShare): Strategy {
  const { capacity, floor, burstFactor, internalFactor } = options;
  return (caller, activeCallers) => {
    if (caller.internal) return { requests: floor * internalFactor, windowSeconds, burst: 0 };
    const requests = Math.max(floor, Math.floor(capacity / Math.max(1, activeCallers)));
    return { requests, windowSeconds, burst: Math.floor(requests * burstFactor) - requests };
  };
}

/** The limits in the claims, or those of the tier. An unknown tier has the floor. */
export function membershipTierStrategy(
  tiers: Readonly<Record<string, number>>,
  floor: number,
): Strategy {
  return ({ tier, rawClaims }) => {
    const requests = tier !== null && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
    return claimedLimit(rawClaims) ?? { requests: requests ?? floor, windowSeconds, burst: 0 };
  };
}

/** Fair share until Membership gives claims about the caller. */
export function compositeStrategy(fairShare: Strategy, membershipTier: Strategy): Strategy {
  return (caller, activeCallers) => {
    const isClaimed = caller.tier !== null || claimedLimit(caller.rawClaims) !== undefined;
    return (isClaimed ? membershipTier : fairShare)(caller, activeCallers);
  };
}
