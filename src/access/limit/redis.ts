/**
 * State shared by several processes: request counts, and responses of Membership. Redis holds only
 * what is optional. During an outage each process counts its own requests, starting from what it
 * has seen, and asks Membership itself.
 */
import type { Redis } from 'ioredis';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Log } from '../../observe/log.ts';
import { connectWatched, disconnect, Outage, settled } from '../../redis/connection.ts';
import type { AccessRemote } from '../access.ts';
import { redisResponses } from '../membership/redis-responses.ts';
import type { ResponseCache } from '../membership/responses.ts';
import { Breaker } from './breaker.ts';
import type { Pool } from './rate-limit-pool.ts';
import { RedisWindow, takeScript } from './redis-window.ts';
import type { RateWindow } from './window.ts';

export interface RedisOptions {
  readonly url: string;
  readonly world: World;
  readonly log: Log;
  /** Milliseconds since 1970; absent: the clock of Redis, which all processes share. */
  readonly now?: (() => number) | undefined;
  /** Timeout of a command, after which the request continues without it. */
  readonly commandTimeoutMs?: number | undefined;
}

const words = {
  redis: 'Redis',
  meanwhile: 'each process counts requests and caches keys separately until it is back',
  after: '; requests are counted together again',
};

export class RedisLink implements AccessRemote {
  readonly answers: ResponseCache;
  readonly #options: RedisOptions;
  readonly #client: Redis;
  readonly #breaker: Breaker;
  readonly #outage: Outage;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#outage = new Outage(words, options.log);
    this.#breaker = new Breaker(options.world, {
      failuresMax: limits.redis.circuitFailuresMax,
      openMs: limits.redis.circuitOpenMs,
      probeMs: limits.redis.commandTimeoutMs,
    });
    const { url, commandTimeoutMs } = options;
    this.#client = connectWatched(url, this.#outage, {
      commandTimeout: commandTimeoutMs ?? limits.redis.commandTimeoutMs,
      // No command is sent twice.
      autoResendUnfulfilledCommands: false,
      scripts: { takeRequest: takeScript },
    });
    this.answers = redisResponses(this);
  }

  get status() {
    return { isReady: this.#client.status === 'ready', circuit: this.#breaker.circuit };
  }

  windowFor(pool: Pool, near: RateWindow): RateWindow {
    const { world, now } = this.#options;
    return new RedisWindow({ link: this, pool, near, now, writer: world.uuid() });
  }

  /** Resolves when Redis can be used, or the first connection has failed. */
  async settled(): Promise<void> {
    await settled(this.#client);
  }

  /** The result of the call; without Redis, that of `otherwise`. */
  async tryCall<T>(
    call: (client: Redis) => Promise<T>,
    otherwise: () => T | Promise<T>,
  ): Promise<T> {
    if (this.#client.status !== 'ready' || this.#breaker.waitMs() > 0) return otherwise();
    try {
      const result = await this.#breaker.run(() => call(this.#client));
      this.#outage.end();
      return result;
    } catch (error) {
      this.#outage.tell(error);
      return otherwise();
    }
  }

  close(): void {
    disconnect(this.#client);
  }
}
