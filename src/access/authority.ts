/** Identifies a key: the internal key, a static one, or one of Membership. */
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import { type CallerContext, localCaller } from './caller.ts';
import {
  checkInternalKey,
  findStatic,
  hashKey,
  isAmong,
  isKeyShaped,
  readStaticKey,
} from './key.ts';
import { FailedKeyLimiter } from './limit/failed-key-limiter.ts';
import { callerOf, isCallerId } from './membership/claims.ts';
import { Membership } from './membership/membership.ts';
import type { ResponseCache } from './membership/responses.ts';

export interface AuthorityOptions {
  readonly world: World;
  /** `sha256:HEX` or `NAME=sha256:HEX` each. */
  readonly apiKeys?: readonly string[] | undefined;
  readonly internalKey?: string | undefined;
  readonly internalCallerIds?: readonly string[] | undefined;
  readonly membershipUrl?: string | undefined;
  /** Requires a key even if only services have one. */
  readonly isClosed?: boolean | undefined;
  readonly answers?: ResponseCache | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export type Verdict =
  | { readonly caller: CallerContext }
  | { readonly reason: 'missing' | 'malformed' | 'invalid'; readonly message: string };

const rejections = {
  missing: { reason: 'missing', message: 'the request has no key in the X-API-Key header' },
  malformed: {
    reason: 'malformed',
    message: 'the X-API-Key header is not a valid key: use printable characters without spaces',
  },
  invalid: { reason: 'invalid', message: 'the key in the X-API-Key header is not valid' },
} as const;

export interface Authority {
  readonly isGuarded: boolean;
  readonly membership: Membership | undefined;
  judge(key: string | undefined, source: string | undefined): Promise<Verdict>;
}

export function openAuthority(options: AuthorityOptions): Authority {
  const staticKeys = (options.apiKeys ?? []).map(readStaticKey);
  const internalKeys =
    options.internalKey === undefined
      ? []
      : [hashKey(checkInternalKey(options.internalKey)).digest];
  const internalIds = readCallerIds(options.internalCallerIds ?? []);
  const { membershipUrl: url, world, answers, fetch = globalThis.fetch } = options;
  const membership = url === undefined ? undefined : new Membership({ url, world, fetch, answers });
  const guesses = new FailedKeyLimiter(world);
  const isGuarded = staticKeys.length > 0 || membership !== undefined || options.isClosed === true;
  const isOpen = !isGuarded && internalKeys.length === 0;
  return {
    isGuarded,
    membership,
    async judge(key, source) {
      if (isOpen) return { caller: localCaller };
      if (key === undefined || key === '') {
        return isGuarded ? rejections.missing : { caller: localCaller };
      }
      if (!isKeyShaped(key)) return rejections.malformed;
      const hash = hashKey(key);
      // Both lists are searched completely for every key: see `isAmong`.
      const [isInternal, found] = [isAmong(hash, internalKeys), findStatic(hash, staticKeys)];
      if (isInternal)
        return { caller: callerOf(hash, { caller_type: 'service' }, { internalIds }) };
      if (found) return { caller: callerOf(hash, {}, { internalIds, name: found.name }) };
      const known = membership?.recall(hash);
      if (known === undefined) await refuseGuessing(guesses, source);
      const answer = known ?? (await membership?.ask(key, hash));
      if (answer?.isValid) return { caller: callerOf(hash, answer.claims, { internalIds }) };
      if (known === undefined && source !== undefined) await guesses.note(source);
      return rejections.invalid;
    },
  };
}

async function refuseGuessing(
  guesses: FailedKeyLimiter,
  source: string | undefined,
): Promise<void> {
  const waitMs = source === undefined ? 0 : await guesses.waitMs(source);
  if (waitMs === 0) return;
  const message = 'too many invalid keys came from this address';
  throw new Failure('rate_limit_hit', message, { retryAfterMs: waitMs });
}

function readCallerIds(ids: readonly string[]): ReadonlySet<string> {
  const bad = ids.find((id) => !isCallerId(id));
  if (bad === undefined) return new Set(ids);
  const given = JSON.stringify(bad);
  const message = `${given} is not a caller id: use printable characters without spaces`;
  throw new Failure('usage_error', message);
}
