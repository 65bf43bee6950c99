/**
 * The thread that renews locks, on its own connection, so that a main thread that is busy with a
 * long document does not lose its messages. It ends with its process, so a dead process loses its
 * locks. A message is renewed for the longest allowed run, then no more: a run that hangs loses it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import { connectRedis } from '../redis/connection.ts';

export interface LockThreadOptions {
  readonly url: string;
  /** The prefix of the queue's keys. */
  readonly prefix: string;
  readonly lockMs: number;
  readonly renewMs: number;
}

export interface Lock {
  readonly id: string;
  readonly token: string;
  readonly forMs: number;
}

export interface ToLockThread {
  readonly held: (Lock & { readonly hold: number }) | undefined;
  readonly released: readonly number[];
}

export type FromLockThread =
  | { readonly kind: 'started' }
  | { readonly kind: 'lost'; readonly hold: number }
  | { readonly kind: 'trouble'; readonly message: string };

interface Hold {
  readonly id: string;
  readonly token: string;
  readonly until: number;
}

/**
 * Returns 1 if the lock is ours, 0 if another consumer has it, and 2 if nobody has it: Redis was
 * emptied, or the renewal was late and the message was not delivered again yet.
 */
const renewScript = {
  lua: `
local answers = {}
for at = 2, #KEYS do
  local token, id = ARGV[at * 2 - 2], ARGV[at * 2 - 1]
  local holder = redis.call('GET', KEYS[at])
  if holder == token then
    redis.call('PEXPIRE', KEYS[at], ARGV[1])
    redis.call('SREM', KEYS[1], id)
    answers[at - 1] = 1
  else
    answers[at - 1] = holder and 0 or 2
  end
end
return answers
`,
};

/** The command that ioredis defines for the script. */
interface RenewingRedis {
  renewLocks(keyCount: number, ...args: readonly (string | number)[]): Promise<number[]>;
}

const lost = 0;

class Renewal {
  readonly #options: LockThreadOptions;
  readonly #client: Redis;
  readonly #send: (message: FromLockThread) => void;
  readonly #holds = new Map<number, Hold>();
  #isBusy = false;

  constructor(options: LockThreadOptions, send: (message: FromLockThread) => void) {
    this.#options = options;
    this.#send = send;
    this.#client = connectRedis(options.url, {
      connectionName: 'pawl-locks',
      commandTimeout: limits.queue.commandTimeoutMs,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      scripts: { renewLocks: renewScript },
    });
    this.#client.on('error', (error) => send({ kind: 'trouble', message: error.message }));
    // Renewals that failed while Redis was unreachable are done as soon as it is back.
    this.#client.on('ready', () => void this.#renew());
    setInterval(() => void this.#renew(), options.renewMs);
  }

  receive({ held, released }: ToLockThread): void {
    for (const hold of released) this.#holds.delete(hold);
    if (!held) return;
    const { hold, id, token, forMs } = held;
    this.#holds.set(hold, { id, token, until: performance.now() + forMs });
  }

  async #renew(): Promise<void> {
    this.#forgetOverdue();
    if (this.#isBusy || this.#holds.size === 0 || this.#client.status !== 'ready') return;
    this.#isBusy = true;
    try {
      const holds = [...this.#holds];
      const answers = await this.#renewAll(holds.map(([, hold]) => hold));
      answers.forEach((answer, at) => {
        const hold = holds[at]?.[0];
        if (answer !== lost || hold === undefined || !this.#holds.delete(hold)) return;
        this.#send({ kind: 'lost', hold });
      });
    } catch (error) {
      this.#send({ kind: 'trouble', message: (error as Error).message });
    } finally {
      this.#isBusy = false;
    }
  }

  /** The last renewal ends no later than the run's time limit. */
  #forgetOverdue(): void {
    const now = performance.now();
    for (const [key, { until }] of this.#holds) {
      if (now + this.#options.lockMs > until) this.#holds.delete(key);
    }
  }

  #renewAll(holds: readonly Hold[]): Promise<number[]> {
    const { prefix, lockMs } = this.#options;
    const keys = [`${prefix}stalled`, ...holds.map(({ id }) => `${prefix}${id}:lock`)];
    const pairs = holds.flatMap(({ token, id }) => [token, id]);
    const client = this.#client as unknown as RenewingRedis;
    return client.renewLocks(keys.length, ...keys, lockMs, ...pairs);
  }
}

if (parentPort) {
  const port = parentPort;
  const renewal = new Renewal(workerData as LockThreadOptions, (message) =>
    port.postMessage(message),
  );
  port.on('message', (message: ToLockThread) => renewal.receive(message));
  port.postMessage({ kind: 'started' } satisfies FromLockThread);
}
