/**
 * State that several processes share in Redis: the last known state of jobs, and a notification
 * that the log has news. Log and store stay authoritative: readers fall back to them. A view
 * carries the number of the last event it includes. One script compares and writes, so a late
 * writer never overwrites a newer view.
 */
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import { connectRedis, connectWatched, disconnect, isAway, Outage, settled } from './connection.ts';

export interface HotView {
  /** The number of the last event that it includes. */
  readonly version: number;
  readonly body: string;
}

export interface HotStore {
  /** Undefined if there is none; `away` if Redis does not respond. */
  read(key: string): Promise<HotView | undefined | 'away'>;
  /** False if a newer view is there, or if Redis does not respond. */
  write(key: string, view: HotView): Promise<boolean>;
  /** The versions of the views that exist. */
  versions(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Notifies other processes that there is news. Calls in quick succession are merged into one. */
  ring(): void;
  /** Calls back when another process has notified. */
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

/** The command that ioredis defines for the script. */
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
  readonly #subscriber: Redis;
  readonly #listeners = new Set<() => void>();
  /** Identifies this process's own notifications. */
  readonly #name: string;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isRinging = false;
  #isRungAgain = false;

  constructor({ url, world, log, commandTimeoutMs }: HotStoreOptions) {
    this.#world = world;
    this.#name = world.uuid();
    this.#outage = new Outage('the state of jobs', log);
    this.#client = connectWatched(url, this.#outage, {
      commandTimeout: commandTimeoutMs ?? limits.redis.commandTimeoutMs,
      scripts: { writeView: writeScript },
    });
    this.#client.on('ready', () => this.#outage.end());
    // It subscribes again after every reconnect.
    this.#subscriber = connectRedis(url, {
      connectionName: 'pawl-news',
      maxRetriesPerRequest: null,
    });
    this.#subscriber.on('error', (error) => this.#outage.tell(error));
    this.#subscriber.on('message', (_, from: string) => {
      if (from !== this.#name) for (const listener of this.#listeners) listener();
    });
    this.#subscriber.subscribe(channel).catch((error) => this.#outage.tell(error));
  }

  async settled(): Promise<void> {
    if (await settled(this.#client)) await settled(this.#subscriber);
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
    void this.#publish();
  }

  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#listeners.clear();
    for (const client of [this.#client, this.#subscriber]) disconnect(client);
  }

  /**
   * Calls during a notification are merged into one more. A process that misses it polls the log in
   * time.
   */
  async #publish(): Promise<void> {
    while (this.#isRungAgain) {
      this.#isRungAgain = false;
      await this.#attempt((client) => client.publish(channel, this.#name));
    }
    this.#isRinging = false;
  }

  /** Undefined if Redis does not respond. A Redis that hangs is left alone for a while. */
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
