/**
 * A window shared by several processes: one sorted set per caller, with a member per request and
 * its time as the score. One script checks and writes, so two processes never both take the last
 * slot.
 */
import type { Redis } from 'ioredis';
import { limits } from '../../kernel/limits/limits.ts';
import type { RedisCalls } from '../membership/redis-responses.ts';
import type { RateClaim, RateWindow, Taken } from './window.ts';

/**
 * Returns: allowed or not, the count, the time until there is room, the number of active callers.
 */
export const takeScript = {
  numberOfKeys: 2,
  lua: `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local limit, window, shared = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local count = redis.call('ZCARD', KEYS[1])
local allowed = 0
if count < limit then
  redis.call('ZADD', KEYS[1], now, ARGV[5])
  redis.call('PEXPIRE', KEYS[1], window)
  count, allowed = count + 1, 1
end
local first = math.max(0, count - limit)
local leaving = redis.call('ZRANGE', KEYS[1], first, first, 'WITHSCORES')[2]
if ARGV[6] ~= '' then
  redis.call('ZADD', KEYS[2], now, ARGV[6])
  redis.call('PEXPIRE', KEYS[2], shared)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - shared)
return { allowed, count, (leaving or now) + window - now, redis.call('ZCARD', KEYS[2]) }
`,
};

type TakeReply = readonly [allowed: number, count: number, freesInMs: number, active: number];

/** The command that ioredis creates from the script. */
interface TakingRedis {
  takeRequest(...args: readonly (string | number)[]): Promise<TakeReply>;
}

export interface RedisWindowOptions {
  readonly link: RedisCalls;
  /** Windows with different names count separately. */
  readonly pool: string;
  /** This process's own requests: used during a Redis outage. */
  readonly near: RateWindow;
  readonly now: (() => number) | undefined;
  /** Unique per process: two requests at the same moment are two members. */
  readonly writer: string;
}

export class RedisWindow implements RateWindow {
  readonly #options: RedisWindowOptions;
  #written = 0;
  #active: number | undefined;

  constructor(options: RedisWindowOptions) {
    this.#options = options;
  }

  /** From the last response of Redis: at most one request late, without its own round trip. */
  activeCallers(callerId: string): number {
    return this.#active ?? this.#options.near.activeCallers(callerId);
  }

  async take(claim: RateClaim): Promise<Taken> {
    const { link, near } = this.#options;
    const together = await link.tryCall<TakeReply | undefined>(
      (client) => this.#takeFrom(client, claim),
      () => undefined,
    );
    if (together === undefined) {
      this.#active = undefined;
      return near.take(claim);
    }
    const [allowed, count, freesInMs, active] = together;
    this.#active = Math.max(1, active);
    // An allowed request is also recorded locally, so that an outage starts with the current count.
    if (allowed === 1) await near.take({ ...claim, limit: Number.POSITIVE_INFINITY });
    return { isAllowed: allowed === 1, count, freesInMs: Math.min(freesInMs, claim.windowMs) };
  }

  #takeFrom(client: Redis, { callerId, limit, windowMs, isSharing }: RateClaim) {
    const { pool, now, writer } = this.#options;
    this.#written += 1;
    // The braces keep both keys of a pool on one node of a cluster.
    return (client as unknown as TakingRedis).takeRequest(
      `pawl:{${pool}}:rate:${callerId}`,
      `pawl:{${pool}}:callers`,
      now?.() ?? '',
      limit,
      windowMs,
      limits.rate.windowMs,
      `${writer}:${this.#written}`,
      isSharing ? callerId : '',
    );
  }
}
