/** Access without configured keys: every local caller, without a limit. */
import type { Access, AccessStatus, RateDecision } from '../access/access.ts';
import { localCaller } from '../access/caller.ts';

export type { Access, RateDecision } from '../access/access.ts';

/** The interface that the server needs. A part that is not configured reports no state. */
export type ServiceAccess = Access & { readonly status?: AccessStatus };

export function localAccess(): ServiceAccess {
  const unlimited: RateDecision = {
    allowed: true,
    limit: Number.POSITIVE_INFINITY,
    remaining: Number.POSITIVE_INFINITY,
    windowSeconds: 3600,
    resetAtMs: 0,
    retryAfterSeconds: 0,
  };
  return { authenticate: async () => localCaller, admit: async () => unlimited };
}
