/**
 * One consumer of a queue on BullMQ. It takes a message when it has a place for it, and has it
 * acknowledged when its run has settled. It lives through a Redis that is absent, or is killed.
 */
import type { Worker as BullWorker, Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import { pause, type World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import { connectRedis, isAway, Outage } from '../redis/connection.ts';
import { retryMs, Turn } from './delivery-run.ts';
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
  readonly #turns = new Set<Turn>();
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
      // The thread does it.
      skipLockRenewal: true,
      // How many may die of a message is for those to say who asked for it.
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
      for (const turn of this.#turns) turn.stop();
    }, graceMs);
    // Where Redis is away, BullMQ would wait for it.
    const ended = new AbortController();
    const patience = pause(world, graceMs + 2 * times.abandonMs, ended.signal);
    await Promise.race([closing, patience]);
    ended.abort();
    cancel();
    await this.#renewer.end();
    for (const client of this.#clients) client.removeAllListeners('close').disconnect();
  }

  async #process(job: Job<BullMessage, unknown, string>, token = ''): Promise<void> {
    const { times, world } = this.#parts;
    const { id = '', name: kind, data } = job;
    if (await this.#isTooLate(job, token)) throw new Error('the message was given to another');
    this.#refusal = undefined;
    const attempt = 1 + job.attemptsMade + job.stalledCounter;
    const message = { ...data, kind };
    const turn = new Turn({ message, attempt, times, world, consume: this.#options });
    this.#turns.add(turn);
    const held = { id, token, forMs: times.visibilityMs };
    const release = this.#renewer.hold(held, () => turn.lose());
    try {
      const outcome = await turn.outcome();
      if (outcome.do === 'finish') return;
      // What BullMQ is told it keeps in Redis: no more than this.
      if (outcome.do !== 'again') throw new Error(`the consumer of ${kind} did not finish`);
      await job.moveToDelayed(world.now() + outcome.afterMs, token);
      throw new this.#bullmq.DelayedError();
    } finally {
      this.#turns.delete(turn);
      release();
    }
  }

  /** A loop that was busy may hear of a message long after it was given, and given away again. */
  async #isTooLate(job: Job, token: string): Promise<boolean> {
    const { times, world, keys } = this.#parts;
    if (world.now() - (job.processedOn ?? 0) < times.lockMs / 2) return false;
    const [client] = this.#clients;
    return (await client?.get(`${keys.keyPrefix}${job.id}:lock`)) !== token;
  }

  #hearTrouble(error: Error): void {
    // A late word about a message that somebody else has: the fence has done its work.
    if (typeof (error as { code?: unknown }).code === 'number') return;
    if (isAway(error)) this.#outage.tell(error);
    else this.#rest(error);
  }

  /** BullMQ would ask a Redis that refuses it, say because it is full, as fast as it can. */
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
 * The connection for commands, and all that BullMQ makes from it: one of them blocks until there is
 * a message, and BullMQ cannot be trusted to end those that never reached Redis.
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
