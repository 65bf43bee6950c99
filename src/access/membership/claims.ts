/**
 * The claims of Membership about a caller. Every claim is optional; a claim with the wrong shape
 * makes the whole reply invalid.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { CallerContext } from '../caller.ts';
import type { KeyHash } from '../key.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** The claims of a reply, or undefined if it is invalid. No body means no claims. */
export function readReply(text: string): Claims | undefined {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (value === null) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Claims) : undefined;
}

/** The name of the first claim that has the wrong shape. */
export function findBadClaim(claims: Claims): string | undefined {
  const isGood = ([name, check]: [string, (value: unknown) => boolean]): boolean =>
    !Object.hasOwn(claims, name) || claims[name] === null || check(claims[name]);
  return Object.entries(shapes).find((entry) => !isGood(entry))?.[0];
}

const shapes: Readonly<Record<string, (value: unknown) => boolean>> = {
  caller_id: (value) => typeof value === 'string' && isCallerId(value),
  caller_type: isShortText,
  tier: isShortText,
  scopes: (value) =>
    Array.isArray(value) && value.length <= limits.membership.scopesMax && value.every(isShortText),
  rate_limits: (value) =>
    value instanceof Object &&
    isCount(member(value, 'requests'), 1) &&
    ['window_seconds', 'burst'].every((name) => {
      const count = member(value, name);
      return count === undefined || isCount(count, name === 'burst' ? 0 : 1);
    }),
};

export function isCallerId(text: string): boolean {
  return text.length <= limits.key.callerIdCharactersMax && /^[\x21-\x7e]+$/.test(text);
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= limits.membership.claimCharactersMax;
}

function isCount(value: unknown, least: number): boolean {
  return Number.isInteger(value) && (value as number) >= least;
}

function member(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Claims)[name] : undefined;
}

export interface Naming {
  readonly internalIds: ReadonlySet<string>;
  /** The caller's name in the key list. */
  readonly name?: string | undefined;
}

/** Makes a caller from valid claims and the hash of the key. A static key may have a name. */
export function callerOf(
  hash: Pick<KeyHash, 'callerId'>,
  claims: Claims,
  { internalIds, name }: Naming,
): CallerContext {
  const claimed = (claims.caller_id as string | null | undefined) ?? undefined;
  const callerId = claimed ?? name ?? hash.callerId;
  const kind = claimed === undefined ? 'name' : 'membership';
  const isNamed = claimed !== undefined || name !== undefined;
  const callerType = callerTypeOf(claims.caller_type);
  return {
    callerId,
    shownId: callerId,
    sight: { key: hash.callerId, named: isNamed ? { kind, subject: callerId } : undefined },
    callerType,
    tier: (claims.tier as string | null | undefined) || null,
    scopes: (claims.scopes as readonly string[] | null | undefined) ?? [],
    rawClaims: claims,
    internal: callerType === 'service' || internalIds.has(callerId),
  };
}

/** An unknown type gives no rights. */
function callerTypeOf(claim: unknown): CallerContext['callerType'] {
  return claim === 'user' || claim === 'service' ? claim : 'unknown';
}

export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
  /** Allowed on top of the requests. */
  readonly burst: number;
}

/** The limits in the claims, clamped to the countable range; undefined if there are none. */
export function claimedLimit(claims: Claims): RateLimit | undefined {
  const { rate_limits: limit } = claims;
  if (!(limit instanceof Object)) return undefined;
  const { claimedRequestsMax, claimedWindowSecondsMax, windowMs } = limits.rate;
  const numberOf = (name: string, absent: number): number =>
    (member(limit, name) as number | undefined) ?? absent;
  const requests = Math.min(numberOf('requests', 1), claimedRequestsMax);
  return {
    requests,
    windowSeconds: Math.min(numberOf('window_seconds', windowMs / 1000), claimedWindowSecondsMax),
    burst: Math.min(numberOf('burst', 0), claimedRequestsMax - requests),
  };
}
