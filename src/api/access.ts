/** Who may ask, and how much: what the server needs to know of it. */
import type { CallerContext } from '../access/caller.ts';

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly retryAfterSeconds: number;
}

export interface Access {
  /** Throws a failure where the key is missing, wrong, or cannot be checked. */
  authenticate(key: string | undefined): Promise<CallerContext>;
  admit(caller: CallerContext, route: string): Promise<RateDecision>;
}

/** Whoever reaches the loopback address may do everything: there is one caller. */
export function localAccess(): Access {
  const local: CallerContext = {
    callerId: 'local',
    callerType: 'user',
    tier: null,
    scopes: [],
    rawClaims: {},
    internal: false,
  };
  const unlimited: RateDecision = {
    allowed: true,
    limit: Number.POSITIVE_INFINITY,
    remaining: Number.POSITIVE_INFINITY,
    resetAtMs: 0,
    retryAfterSeconds: 0,
  };
  return { authenticate: async () => local, admit: async () => unlimited };
}
