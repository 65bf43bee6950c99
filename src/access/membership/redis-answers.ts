/** Responses of Membership in Redis: one key each, under the hash, with an expiry. */
import type { Redis } from 'ioredis';
import { limits } from '../../kernel/limits/limits.ts';
import type { Answer, AnswerCache } from './answers.ts';
import { findBadClaim, readReply } from './claims.ts';

export interface Attempts {
  attempt<T>(call: (client: Redis) => Promise<T>, otherwise: () => T | Promise<T>): Promise<T>;
}

export function redisAnswers(link: Attempts): AnswerCache {
  const place = (hash: string): string => `pawl:auth:${hash}`;
  return {
    async get(hash) {
      const read = async (client: Redis): Promise<readonly unknown[]> => {
        const replies = await client.multi().get(place(hash)).pttl(place(hash)).exec();
        return (replies ?? []).map(([, value]) => value);
      };
      const [text, ttlMs] = await link.attempt(read, () => []);
      const answer = typeof text === 'string' ? readAnswer(text) : undefined;
      if (answer === undefined || !(Number(ttlMs) > 0)) return undefined;
      return { answer, ttlMs: Math.min(Number(ttlMs), limits.membership.cacheTtlMs) };
    },
    async set(hash, { answer, ttlMs }) {
      const text = JSON.stringify(answer.isValid ? answer.claims : false);
      await link.attempt<unknown>(
        (client) => client.set(place(hash), text, 'PX', Math.ceil(ttlMs)),
        () => undefined,
      );
    },
  };
}

/** An entry of another version, or an invalid one, is ignored. */
function readAnswer(text: string): Answer | undefined {
  if (text === 'false') return { isValid: false };
  const claims = text === '' ? undefined : readReply(text);
  if (claims === undefined || findBadClaim(claims) !== undefined) return undefined;
  return { isValid: true, claims };
}
