/** Connections to the Redis of a queue: how to make one, and when it is usable. */
import { Redis, type RedisOptions } from 'ioredis';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Log } from '../observe/log.ts';

export function connectRedis(url: string, options: RedisOptions): Redis {
  const { connectTimeoutMs, reconnectMsMax } = limits.redis;
  return new Redis(url, {
    connectionName: 'pawl',
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectMsMax),
    ...options,
  });
}

/**
 * A connection whose commands fail at once while Redis is unreachable. Its losses are reported to
 * `outage`: without a listener, an error would end the process.
 */
export function connectWatched(url: string, outage: Outage, options: RedisOptions): Redis {
  const client = connectRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    ...options,
  });
  client.on('error', (error) => outage.tell(error));
  client.on('close', () => outage.tell(new Error('the connection was closed')));
  return client;
}

/** Closes a connection on purpose, which is not an outage. */
export function disconnect(client: Redis): void {
  client.removeAllListeners('close').disconnect();
}

/** Resolves when Redis can be used, or when the first attempt to reach it has failed. */
export async function settled(client: Redis): Promise<boolean> {
  if (client.status === 'ready') return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const ends = { ready: () => resolve(true), error: () => resolve(false) };
  client.once('ready', ends.ready).once('error', ends.error).once('close', ends.error);
  const isReady = await promise;
  client.off('ready', ends.ready).off('error', ends.error).off('close', ends.error);
  return isReady;
}

/**
 * With any policy but `noeviction`, a full Redis silently drops messages. The policy is read from
 * INFO: hosted Redis often denies reading its configuration.
 */
export async function refuseEviction(client: Redis, url: string): Promise<void> {
  const policy = await readPolicy(client);
  if (policy === 'noeviction') return;
  throw new Failure('queue_evicts', evictionMessage(policy, url));
}

async function readPolicy(client: Redis): Promise<string> {
  const text = await client.info('memory');
  const [, policy = 'unknown'] = /^maxmemory_policy:(\S+)/m.exec(text) ?? [];
  return policy;
}

/** The used share of its memory; 0 if it has no limit. */
export async function readFullness(client: Redis): Promise<number> {
  const text = await client.info('memory');
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const most = read('maxmemory');
  return most === 0 ? 0 : read('used_memory') / most;
}

function evictionMessage(policy: string, url: string): string {
  return (
    `the maxmemory-policy of the Redis at ${publicAddress(url)} is ${policy}: when it is full, ` +
    `it drops messages in silence. ${evictionCure(url)}`
  );
}

export function evictionCure(url: string): string {
  const hasPassword = (URL.parse(url)?.password ?? '') !== '';
  const secret = hasPassword ? ', with its password in REDISCLI_AUTH' : '';
  return (
    `Run \`redis-cli -u ${publicAddress(url)} CONFIG SET maxmemory-policy noeviction\`${secret}, ` +
    'and put the line `maxmemory-policy noeviction` into its redis.conf'
  );
}

/** The address without credentials. */
export function publicAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

const codesAway = /^E(?:CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)/;
const messagesAway = [
  /^(?:connect|read|write) E/,
  /^Connection is closed/,
  /^Stream isn't writeable/,
  /^Command timed out/,
  /^Reached the max retries/,
  // Reachable, but not able to serve yet, or not any more.
  /^(?:LOADING|READONLY|UNBLOCKED|MASTERDOWN)/,
];

/** Redis is unreachable, as opposed to: Redis has responded with an error. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && codesAway.test(code)) return true;
  return messagesAway.some((pattern) => pattern.test(error.message));
}

export interface OutageWords {
  /** The role of this Redis. */
  readonly redis: string;
  readonly meanwhile: string;
  readonly after: string;
}

function wordsFor(what: string): OutageWords {
  const meanwhile = 'nothing is lost, and it is tried again';
  return { redis: `Redis of ${what}`, meanwhile, after: '' };
}

/** Logs once when Redis becomes unreachable, and once when it is back. */
export class Outage {
  readonly #log: Log;
  readonly #words: OutageWords;
  #isAway = false;

  /** What it is needed for, or the complete texts. */
  constructor(what: string | OutageWords, log: Log) {
    this.#words = typeof what === 'string' ? wordsFor(what) : what;
    this.#log = log;
  }

  /** Only the message: the error object contains the command, which may contain the password. */
  tell(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const why = error instanceof Error ? error.message || error.name : String(error);
    const { redis, meanwhile } = this.#words;
    this.#log.warn(`${redis} is away (${why}); ${meanwhile}`);
  }

  end(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    const { redis, after } = this.#words;
    this.#log.warn(`${redis} is back${after}`);
  }
}
