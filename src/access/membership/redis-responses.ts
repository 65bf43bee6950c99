/** Responses of Membership in Redis: one key each, under the hash, with an expiry. */
import type { Redis } from 'ioredis';
import { limits } from '../../kernel/limits/limits.ts';
import { findBadClaim, readReply } from './claims.ts';
import type { MembershipResponse, ResponseCache } from './responses.ts';

export interface RedisCalls {
  tryCall<T>(call: (client: Redis) => Promise<T>, otherwise: () => T | Promise<T>): Promise<T>;
}

export function redisResponses(link: RedisCalls): ResponseCache {
  const place = (hash: string): string => `pawl:auth:${hash}`;
  return {
    async get(hash) {
      const read = async (client: Redis): Promise<readonly unknown[]> => {
        const replies = await client.multi().get(place(hash)).pttl(place(hash)).exec();
        return (replies ?? []).map(([, value]) => value);
      };
      const [text, ttlMs] = await link.tryCall(read, () => []);
      const answer = typeof text === 'string' ? readResponse(text) : undefined;
      if (answer === undefined || !(Number(ttlMs) > 0)) return undefined;
      return { answer, ttlMs: Math.min(Number(ttlMs), limits.membership.cacheTtlMs) };
    },
    async set(hash, { answer, ttlMs }) {
      const text = JSON.stringify(answer.isValid ? answer.claims : false);
      await link.tryCall<unknown>(
        (client) => client.set(place(hash), text, 'PX', Math.ceil(ttlMs)),
        () => undefined,
      );
    },
  };
}

/** An entry of another version, or an invalid one, is ignored. */
function readResponse(text: string): MembershipResponse | undefined {
  if (text === 'false') return { isValid: false };
  const claims = text === '' ? undefined : readReply(text);
  if (claims === undefined || findBadClaim(claims) !== undefined) return undefined;
  return { isValid: true, claims };
}
