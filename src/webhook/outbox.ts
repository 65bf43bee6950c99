/**
 * Sends webhooks from the log. Job ends are taken from it once, by the first process that reads
 * them, and become deliveries in the same commit; a delivery is tried until it is accepted, at
 * least once, and under one id, so that its receiver can recognize a duplicate.
 */
import { backoffMs } from '../kernel/backoff.ts';
import { type Failure, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Post } from '../pipeline/fetch/http/post.ts';
import {
  type DeliveryRow,
  type EndRow,
  insertDeliveries,
  nextDueAt,
  settleDelivery,
  takeDue,
  takeEnds,
} from '../store/delivery/deliveries.ts';
import type { Database } from '../store/driver/database.ts';
import { getJobById } from '../store/job/jobs.ts';
import { bodyOf, callerSecret, signedHeaders } from './webhook.ts';

export interface OutboxOptions {
  readonly database: Database;
  readonly world: World;
  readonly post: Post;
  /** Without it nothing is sent: receivers could not verify the sender. */
  readonly secret?: string | undefined;
  /** Called for each end of a job, in one process only. */
  readonly onEnd: (end: EndRow) => void;
  readonly onError: (what: string, error: unknown) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isWanted = false;
  #cancelTimer: (() => void) | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** There may be something to send. */
  ring(): void {
    this.#isWanted = true;
    if (this.#stopping.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.#sleep();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer?.();
    await this.#running;
    this.#cancelTimer?.();
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#stopping.signal.aborted) {
      this.#isWanted = false;
      try {
        await this.#plan();
        await this.#send();
      } catch (error) {
        this.#options.onError('outbox', error);
        return;
      }
    }
  }

  /** Signals of this process do not reach others, which may have left deliveries. */
  #sleep(): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelTimer?.();
    const { world, database } = this.#options;
    const wake = (delayMs: number): void => {
      this.#cancelTimer?.();
      this.#cancelTimer = world.setTimer(() => this.ring(), delayMs);
    };
    wake(limits.webhook.pollMs);
    void nextDueAt(database)
      .then((dueAt) => {
        if (dueAt === null || this.#stopping.signal.aborted) return;
        wake(Math.min(Math.max(dueAt - database.now(), 0), limits.webhook.pollMs));
      })
      .catch((error) => this.#options.onError('outbox', error));
  }

  async #plan(): Promise<void> {
    const { database, world, secret, onEnd } = this.#options;
    const limit = limits.event.pageMax;
    for (let isFull = true; isFull; ) {
      const ends = await database.write(async (transaction) => {
        const taken = await takeEnds(transaction, limit);
        const deliveries =
          secret === undefined ? [] : taken.flatMap((end) => newDelivery(end, world));
        await insertDeliveries(transaction, deliveries);
        return taken;
      });
      ends.forEach(onEnd);
      isFull = ends.length === limit;
    }
  }

  async #send(): Promise<void> {
    const { database } = this.#options;
    const { atOnceMax: limit, leaseMs } = limits.webhook;
    for (let isFull = true; isFull && !this.#stopping.signal.aborted; ) {
      const now = database.now();
      const due = await database.write((transaction) =>
        takeDue(transaction, { now, until: now + leaseMs, limit }),
      );
      await Promise.all(due.map((delivery) => this.#deliver(delivery)));
      isFull = due.length === limit;
    }
  }

  async #deliver(delivery: DeliveryRow): Promise<void> {
    const { database, world } = this.#options;
    const outcome = await this.#try(delivery);
    if (this.#stopping.signal.aborted && outcome.failure) return;
    const { key, attempt } = delivery;
    const now = database.now();
    const settled = { key, attempt, ...settlementOf(delivery, outcome, { world, now }) };
    await database.write((transaction) => settleDelivery(transaction, settled));
  }

  async #try(delivery: DeliveryRow): Promise<Outcome> {
    const { database, post, secret } = this.#options;
    try {
      const job = await getJobById(database, delivery.job_id);
      const signing = callerSecret(secret ?? '', job?.caller ?? '');
      const status = await post({
        url: new URL(delivery.url),
        headers: signedHeaders(delivery, { secret: signing, now: database.now() }),
        body: delivery.body,
        timeoutMs: limits.webhook.timeoutMs,
        signal: this.#stopping.signal,
      });
      return { status };
    } catch (error) {
      return { failure: toFailure(error) };
    }
  }
}

interface Outcome {
  readonly status?: number;
  readonly failure?: Failure;
}

function newDelivery(end: EndRow, world: World) {
  const { webhook_url: url, seq, id: job_id, kind } = end;
  if (url === null) return [];
  const key = `msg_${world.uuid()}`;
  return [{ key, seq, job_id, kind, url, body: bodyOf(end), created_at: world.now() }];
}

/** A receiver that answers 410 is not called again; a private address never becomes public. */
function settlementOf(
  { attempt }: DeliveryRow,
  { status, failure }: Outcome,
  { world, now }: { world: World; now: number },
) {
  const isDelivered = status !== undefined && status >= 200 && status < 300;
  const { triesMax, ...policy } = limits.webhook.retry;
  const isOver =
    isDelivered || status === 410 || failure?.code === 'private_address' || attempt >= triesMax;
  const waitMs = backoffMs({ ...policy, failedTries: attempt - 1, random: world.random });
  return {
    due_at: isOver ? null : now + waitMs,
    status: status ?? null,
    error: isDelivered ? null : (failure?.code ?? `http_${status}`),
    is_delivered: isDelivered ? 1 : 0,
  };
}
