/**
 * What several processes show each other in Redis: the last known state of jobs, and that there is
 * news in the log. The log and the store stay the truth: what is not here, or is away, is asked of
 * them. A view carries the number of the last event that it knows of, and one script compares and
 * writes, so that a late writer never covers what a quicker one has seen.
 */
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import { connectRedis, isAway, Outage, settled } from './connection.ts';

export interface HotView {
  /** The number of the last event that it knows of. */
  readonly version: number;
  readonly body: string;
}

export interface HotStore {
  /** Undefined where there is none; `away` where nobody can say. */
  read(key: string): Promise<HotView | undefined | 'away'>;
  /** False where a newer one is there already, or nobody can say. */
  write(key: string, view: HotView): Promise<boolean>;
  /** The versions of those that are there. */
  versions(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Others are told that there is news; however often in a moment, once. */
  ring(): void;
  /** Calls back when another process rang. */
  listen(listener: () => void): void;
  close(): void;
}

export interface HotStoreOptions {
  readonly url: string;
  readonly world: World;
  readonly log: Log;
  readonly commandTimeoutMs?: number | undefined;
}

const channel = 'pawl:news';
const keyOf = (key: string): string => `pawl:view:${key}`;

const writeScript = {
  numberOfKeys: 1,
  lua: `
local known = redis.call('HGET', KEYS[1], 'version')
if known and tonumber(known) > tonumber(ARGV[1]) then
  return 0
end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'body', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`,
};

/** The command that ioredis makes of the script. */
interface WritingRedis {
  writeView(key: string, version: number, body: string, ttlMs: number): Promise<number>;
}

/** Resolves when Redis can be used, or when the first attempt to reach it has failed. */
export async function openHotStore(options: HotStoreOptions): Promise<HotStore> {
  const store = new RedisHotStore(options);
  await store.settled();
  return store;
}

class RedisHotStore implements HotStore {
  readonly #world: World;
  readonly #outage: Outage;
  readonly #client: Redis;
  readonly #ear: Redis;
  readonly #listeners = new Set<() => void>();
  /** By which a process knows its own ringing. */
  readonly #name: string;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isRinging = false;
  #isRungAgain = false;

  constructor({ url, world, log, commandTimeoutMs }: HotStoreOptions) {
    this.#world = world;
    this.#name = world.uuid();
    this.#outage = new Outage('the state of jobs', log);
    this.#client = connectRedis(url, {
      commandTimeout: commandTimeoutMs ?? limits.redis.commandTimeoutMs,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      scripts: { writeView: writeScript },
    });
    this.#client.on('error', (error) => this.#outage.tell(error));
    this.#client.on('close', () => this.#outage.tell(new Error('the connection was closed')));
    this.#client.on('ready', () => this.#outage.end());
    // It subscribes anew whenever it is connected anew.
    this.#ear = connectRedis(url, { connectionName: 'pawl-news', maxRetriesPerRequest: null });
    this.#ear.on('error', (error) => this.#outage.tell(error));
    this.#ear.on('message', (_, from: string) => {
      if (from !== this.#name) for (const listener of this.#listeners) listener();
    });
    this.#ear.subscribe(channel).catch((error) => this.#outage.tell(error));
  }

  async settled(): Promise<void> {
    if (await settled(this.#client)) await settled(this.#ear);
  }

  async read(key: string): Promise<HotView | undefined | 'away'> {
    const found = await this.#attempt((client) => client.hmget(keyOf(key), 'version', 'body'));
    if (found === undefined) return 'away';
    const [version, body] = found;
    if (typeof version !== 'string' || typeof body !== 'string') return undefined;
    return { version: Number(version), body };
  }

  async write(key: string, { version, body }: HotView): Promise<boolean> {
    if (body.length > limits.hotView.bodyCharactersMax) return false;
    const written = await this.#attempt((client) =>
      (client as unknown as WritingRedis).writeView(
        ...([keyOf(key), version, body, limits.hotView.ttlMs] as const),
      ),
    );
    return written === 1;
  }

  async versions(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.#attempt((client) =>
      Promise.all(keys.map((key) => client.hget(keyOf(key), 'version'))),
    );
    const entries = keys.map((key, at) => [key, found?.[at]] as const);
    return new Map(
      entries.flatMap(([key, version]) =>
        typeof version === 'string' ? [[key, Number(version)] as const] : [],
      ),
    );
  }

  ring(): void {
    this.#isRungAgain = true;
    if (this.#isRinging) return;
    this.#isRinging = true;
    void this.#ringOut();
  }

  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#listeners.clear();
    for (const client of [this.#client, this.#ear]) client.removeAllListeners('close').disconnect();
  }

  /** What is rung while one is on its way goes as one more. Who misses it finds the log in time. */
  async #ringOut(): Promise<void> {
    while (this.#isRungAgain) {
      this.#isRungAgain = false;
      await this.#attempt((client) => client.publish(channel, this.#name));
    }
    this.#isRinging = false;
  }

  /** Undefined where Redis does not answer. One that hangs is left alone for a while. */
  async #attempt<T>(call: (client: Redis) => Promise<T>): Promise<T | undefined> {
    if (this.#client.status !== 'ready' || this.#world.now() < this.#restsUntil) return undefined;
    try {
      const answer = await call(this.#client);
      this.#outage.end();
      return answer;
    } catch (error) {
      if (isAway(error)) this.#restsUntil = this.#world.now() + limits.redis.circuitOpenMs;
      this.#outage.tell(error);
      return undefined;
    }
  }
}
