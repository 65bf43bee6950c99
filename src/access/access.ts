/**
 * Identifies callers and limits their requests. If neither keys nor Membership are configured,
 * there is one caller, the owner of the machine, and Pawl listens on loopback only.
 */
import { Failure } from '../kernel/failure/failure.ts';
import type { Audit } from './audit.ts';
import { type AuthorityOptions, openAuthority } from './authority.ts';
import { type CallerContext, localCaller } from './caller.ts';
import { hashKey } from './key.ts';
import type { Circuit } from './limit/breaker.ts';
import { openLimits, type RateDecision } from './limit/limiter.ts';
import { type Pool, poolOf } from './limit/rate-limit-pool.ts';
import type { RateWindow } from './limit/window.ts';
import type { ResponseCache } from './membership/responses.ts';

export type { RateDecision } from './limit/limiter.ts';

export interface Access {
  /**
   * Throws `unauthorized` for a missing or invalid key, and `membership_unavailable`, with the time
   * to wait, if that cannot be checked now. `source` is the address of the request: too many wrong
   * keys from it give `rate_limit_hit`, with the time to wait.
   */
  authenticate(key: string | undefined, source?: string): Promise<CallerContext>;
  /** Counts the request, unless it is over the limit. */
  admit(caller: CallerContext, route: string): Promise<RateDecision>;
}

/** State shared by several processes. */
export interface AccessRemote {
  readonly answers: ResponseCache;
  /** A shared window that falls back to the given local one during an outage. */
  windowFor(pool: Pool, near: RateWindow): RateWindow;
  readonly status: { readonly isReady: boolean; readonly circuit: Circuit };
}

export interface AccessOptions extends Omit<AuthorityOptions, 'answers'> {
  /** Receives rejected keys and exceeded limits. */
  readonly audit: Audit;
  readonly rateCapacity?: number | undefined;
  readonly rateFloor?: number | undefined;
  readonly rateTiers?: Readonly<Record<string, number>> | undefined;
  readonly remote?: AccessRemote | undefined;
}

/** For `/readyz`; parts that are not configured are absent. */
export interface AccessStatus {
  readonly membership?: { readonly circuit: Circuit; readonly retryAfterMs: number };
  readonly redis?: AccessRemote['status'];
}

export interface OpenAccess extends Access {
  /** Whether callers need a key. If not, Pawl must listen on loopback only. */
  readonly isGuarded: boolean;
  readonly status: AccessStatus;
}

export function openAccess(options: AccessOptions): OpenAccess {
  const { audit, remote } = options;
  const authority = openAuthority({ ...options, answers: remote?.answers });
  const admit = openLimits({
    ...options,
    windowFor: remote && ((pool, near) => remote.windowFor(pool, near)),
  });
  return {
    isGuarded: authority.isGuarded,
    async authenticate(key, source) {
      const verdict = await authority.judge(key, source);
      if ('caller' in verdict) return verdict.caller;
      const { reason, message } = verdict;
      audit.emit('auth_rejected', rejectedCaller(key), { reason });
      throw new Failure('unauthorized', message);
    },
    async admit(caller, route) {
      const decision = await admit(caller, poolOf(route));
      const { allowed, limit, retryAfterSeconds } = decision;
      if (!allowed) {
        const fields = { route, limit, retry_after_seconds: retryAfterSeconds };
        audit.emit('rate_limit_hit', caller, fields);
      }
      return decision;
    },
    get status() {
      const membership = authority.membership?.status;
      return { ...(membership && { membership }), ...(remote && { redis: remote.status }) };
    },
  };
}

/** A rejected key is identified by its hash; without a usable key there is no id. */
export function rejectedCaller(key: string | undefined): CallerContext {
  const callerId = key ? hashKey(key).callerId : 'none';
  return { ...localCaller, callerId, shownId: callerId, callerType: 'unknown' };
}
