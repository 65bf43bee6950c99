/**
 * What several processes keep together: how much each caller has asked for, and what Membership
 * answered. Redis holds nothing that cannot be done without. While it is away, each process counts
 * its own requests, from what it has seen so far, and asks Membership itself.
 */
import { Redis } from 'ioredis';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import type { AccessRemote } from './access.ts';
import type { AnswerCache } from './answers.ts';
import { Breaker } from './breaker.ts';
import type { Pool } from './pool.ts';
import { redisAnswers } from './redis-answers.ts';
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

export class RedisLink implements AccessRemote {
  readonly answers: AnswerCache;
  readonly #options: RedisOptions;
  readonly #client: Redis;
  readonly #breaker: Breaker;
  #isAway = false;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options.world, {
      failuresMax: limits.redis.circuitFailuresMax,
      openMs: limits.redis.circuitOpenMs,
      probeMs: limits.redis.commandTimeoutMs,
    });
    this.#client = connect(options);
    // Without a listener, a lost connection would end the process.
    this.#client.on('error', (error: Error) => this.#tellAway(error));
    this.#client.on('close', () => this.#tellAway(new Error('the connection was closed')));
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
  settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#client.status === 'ready') resolve();
    for (const event of ['ready', 'error', 'close']) this.#client.once(event, () => resolve());
    return promise;
  }

  /** What the call answers; without Redis, what `otherwise` does. */
  async attempt<T>(
    call: (client: Redis) => Promise<T>,
    otherwise: () => T | Promise<T>,
  ): Promise<T> {
    if (this.#client.status !== 'ready' || this.#breaker.waitMs() > 0) return otherwise();
    try {
      const result = await this.#breaker.run(() => call(this.#client));
      this.#tellBack();
      return result;
    } catch (error) {
      this.#tellAway(error);
      return otherwise();
    }
  }

  close(): void {
    this.#client.removeAllListeners('close');
    this.#client.disconnect();
  }

  /** Only the message: the error itself holds the command, and that may hold the password. */
  #tellAway(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const why = error instanceof Error ? error.message : String(error);
    const what = 'each process counts requests and remembers keys by itself';
    this.#options.log.warn(`Redis is away (${why}); ${what} until it is back`);
  }

  #tellBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#options.log.warn('Redis is back; requests are counted together again');
  }
}

/** Nothing waits in line for a connection, and nothing is sent twice. */
function connect({ url, commandTimeoutMs }: RedisOptions): Redis {
  const { connectTimeoutMs, reconnectMsMax } = limits.redis;
  return new Redis(url, {
    connectionName: 'pawl',
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs ?? limits.redis.commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectMsMax),
    scripts: { takeRequest: takeScript },
  });
}
