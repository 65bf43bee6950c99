/**
 * One consumer of a BullMQ queue. It takes a message only when it has a free slot, and acknowledges
 * it when the run has settled. It survives an absent or killed Redis.
 */
import type { Worker as BullWorker, Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import { pause, type World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import { connectRedis, disconnect, isAway, Outage } from '../redis/connection.ts';
import { DeliveryRun, retryMs } from './delivery-run.ts';
import { LockRenewer } from './lock-renewer.ts';
import type { ConsumeOptions, Consumer, Message, QueueTimes } from './queue.ts';

export type BullMessage = Omit<Message, 'kind'>;

export interface ConsumerParts {
  readonly name: string;
  readonly url: string;
  readonly world: World;
  readonly log: Log;
  readonly times: QueueTimes;
  readonly keys: { readonly prefix: string; readonly name: string; readonly keyPrefix: string };
}

export async function startConsumer(
  parts: ConsumerParts,
  options: ConsumeOptions,
): Promise<Consumer> {
  const bullmq = await import('bullmq');
  const consumer = new BullConsumer({ parts, options, bullmq });
  await consumer.start();
  return consumer;
}

type Bull = typeof import('bullmq');

interface Assembled {
  readonly parts: ConsumerParts;
  readonly options: ConsumeOptions;
  readonly bullmq: Bull;
}

class BullConsumer implements Consumer {
  readonly #parts: ConsumerParts;
  readonly #options: ConsumeOptions;
  readonly #bullmq: Bull;
  readonly #outage: Outage;
  readonly #clients: readonly Redis[];
  readonly #worker: BullWorker<BullMessage, unknown, string>;
  readonly #renewer: LockRenewer;
  readonly #runs = new Set<DeliveryRun>();
  #refusal: string | undefined;
  #cancelRest: (() => void) | undefined;
  #isStopping = false;

  constructor({ parts, options, bullmq }: Assembled) {
    const { url, times, keys } = parts;
    this.#parts = parts;
    this.#options = options;
    this.#bullmq = bullmq;
    this.#outage = new Outage(`the consumer of ${parts.name}`, parts.log);
    const [connection, clients] = connectAll(url);
    this.#clients = clients;
    connection.on('ready', () => this.#outage.end());
    connection.on('close', () => this.#outage.tell(new Error('the connection was closed')));
    this.#renewer = new LockRenewer({
      url,
      lockMs: times.lockMs,
      renewMs: times.renewMs,
      prefix: keys.keyPrefix,
      world: parts.world,
      onTrouble: (error) => this.#hearTrouble(error),
    });
    this.#worker = new bullmq.Worker(keys.name, (job, token) => this.#process(job, token), {
      connection,
      prefix: keys.prefix,
      concurrency: options.places,
      lockDuration: times.lockMs,
      stalledInterval: times.stalledMs,
      autorun: false,
      // The lock thread renews locks.
      skipLockRenewal: true,
      // The sender decides how many consumers may die of a message.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: limits.redis.reconnectMsMax,
      settings: { backoffStrategy: (attempt = 1) => retryMs(attempt, times, parts.world) },
    });
    this.#worker.on('error', (error) => this.#hearTrouble(error));
  }

  async start(): Promise<void> {
    try {
      await this.#renewer.started();
    } catch (error) {
      await this.stop(0);
      throw error;
    }
    this.#worker.run().catch((error) => this.#hearTrouble(error));
  }

  async stop(graceMs: number): Promise<void> {
    const { world, times } = this.#parts;
    this.#isStopping = true;
    this.#cancelRest?.();
    const closing = this.#worker.close();
    const cancel = world.setTimer(() => {
      for (const run of this.#runs) run.stop();
    }, graceMs);
    // BullMQ would wait until Redis is back.
    const ended = new AbortController();
    const patience = pause(world, graceMs + 2 * times.abandonMs, ended.signal);
    await Promise.race([closing, patience]);
    ended.abort();
    cancel();
    await this.#renewer.end();
    for (const client of this.#clients) disconnect(client);
  }

  async #process(job: Job<BullMessage, unknown, string>, token = ''): Promise<void> {
    const { times, world } = this.#parts;
    const { id = '', name: kind, data } = job;
    if (await this.#isTooLate(job, token)) throw new Error('the message was given to another');
    this.#refusal = undefined;
    const attempt = 1 + job.attemptsMade + job.stalledCounter;
    const message = { ...data, kind };
    const run = new DeliveryRun({ message, attempt, times, world, consume: this.#options });
    this.#runs.add(run);
    const lock = { id, token, forMs: times.visibilityMs };
    const release = this.#renewer.hold(lock, () => run.lose());
    try {
      const outcome = await run.outcome();
      if (outcome.do === 'finish') return;
      // BullMQ stores the error message in Redis, so it is kept short.
      if (outcome.do !== 'again') throw new Error(`the consumer of ${kind} did not finish`);
      await job.moveToDelayed(world.now() + outcome.afterMs, token);
      throw new this.#bullmq.DelayedError();
    } finally {
      this.#runs.delete(run);
      release();
    }
  }

  /** A busy event loop may see a message long after its delivery, when another consumer has it. */
  async #isTooLate(job: Job, token: string): Promise<boolean> {
    const { times, world, keys } = this.#parts;
    if (world.now() - (job.processedOn ?? 0) < times.lockMs / 2) return false;
    const [client] = this.#clients;
    return (await client?.get(`${keys.keyPrefix}${job.id}:lock`)) !== token;
  }

  #hearTrouble(error: Error): void {
    // A late report for a message that another consumer holds: the fence has refused it.
    if (typeof (error as { code?: unknown }).code === 'number') return;
    if (isAway(error)) this.#outage.tell(error);
    else this.#rest(error);
  }

  /** If Redis refuses a command, for example because it is full, BullMQ retries in a tight loop. */
  #rest(error: Error): void {
    const refusal = error.message.replace(/ script: .*/s, '');
    if (this.#refusal !== refusal) {
      this.#refusal = refusal;
      this.#options.onError(`queue ${this.#parts.name}`, error);
    }
    if (this.#cancelRest || this.#isStopping) return;
    const resume = (): void => {
      this.#cancelRest = undefined;
      this.#worker.resume().catch((reason) => this.#hearTrouble(reason));
    };
    this.#cancelRest = this.#parts.world.setTimer(resume, limits.queue.refusedMs);
    this.#worker.pause(true).catch((reason) => this.#hearTrouble(reason));
  }
}

/**
 * The command connection and all connections that BullMQ makes from it. One of them blocks until
 * there is a message, and BullMQ does not reliably close those that never reached Redis.
 */
function connectAll(url: string): [Redis, readonly Redis[]] {
  const connection = connectRedis(url, { maxRetriesPerRequest: null });
  const clients = [connection];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (override) => {
    const copy = duplicate(override);
    clients.push(copy);
    return copy;
  };
  return [connection, clients];
}
