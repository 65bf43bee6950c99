/**
 * What several processes keep together: how much each caller has asked for, and what Membership
 * answered. Redis holds nothing that cannot be done without. While it is away, each process counts
 * its own requests, from what it has seen so far, and asks Membership itself.
 */
import type { Redis } from 'ioredis';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Log } from '../../observe/log.ts';
import { connectRedis, Outage, settled } from '../../redis/connection.ts';
import type { AccessRemote } from '../access.ts';
import type { AnswerCache } from '../membership/answers.ts';
import { redisAnswers } from '../membership/redis-answers.ts';
import { Breaker } from './breaker.ts';
import type { Pool } from './rate-limit-pool.ts';
import { RedisWindow, takeScript } from './redis-window.ts';
import type { RateWindow } from './window.ts';

export interface RedisOptions {
  readonly url: string;
  readonly world: World;
  readonly log: Log;
  /** Milliseconds since 1970; absent: Redis' own clock, the one that all processes share. */
  readonly now?: (() => number) | undefined;
  /** How long a command may take before the request goes on without it. */
  readonly commandTimeoutMs?: number | undefined;
}

const words = {
  redis: 'Redis',
  meanwhile: 'each process counts requests and remembers keys by itself until it is back',
  after: '; requests are counted together again',
};

export class RedisLink implements AccessRemote {
  readonly answers: AnswerCache;
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
    this.#client = connect(options);
    // Without a listener, a lost connection would end the process.
    this.#client.on('error', (error: Error) => this.#outage.tell(error));
    this.#client.on('close', () => this.#outage.tell(new Error('the connection was closed')));
    this.answers = redisAnswers(this);
  }

  get standing() {
    return { isReady: this.#client.status === 'ready', circuit: this.#breaker.circuit };
  }

  windowFor(pool: Pool, near: RateWindow): RateWindow {
    const { world, now } = this.#options;
    return new RedisWindow({ link: this, pool, near, now, writer: world.uuid() });
  }

  /** Resolves when Redis can be used, or when the first attempt to reach it has failed. */
  async settled(): Promise<void> {
    await settled(this.#client);
  }

  /** What the call answers; without Redis, what `otherwise` does. */
  async attempt<T>(
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
    this.#client.removeAllListeners('close');
    this.#client.disconnect();
  }
}

/** Nothing waits in line for a connection, and nothing is sent twice. */
function connect({ url, commandTimeoutMs }: RedisOptions): Redis {
  return connectRedis(url, {
    commandTimeout: commandTimeoutMs ?? limits.redis.commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    scripts: { takeRequest: takeScript },
  });
}
