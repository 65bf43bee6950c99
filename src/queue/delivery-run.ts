/**
 * One running delivery. Its signal asks it to end. If it does not, it is abandoned: its slot
 * becomes free and its result is ignored.
 */
import { backoffMs } from '../kernel/backoff.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import type { ConsumeOptions, Message, QueueTimes, Settled } from './queue.ts';

export type Outcome = Settled | { readonly do: 'fail' } | { readonly do: 'abandon' };

export interface DeliveryRunOptions {
  readonly message: Message;
  readonly attempt: number;
  readonly times: QueueTimes;
  readonly world: World;
  readonly consume: ConsumeOptions;
}

export class DeliveryRun {
  readonly #options: DeliveryRunOptions;
  readonly #controller = new AbortController();
  readonly #abandoned = Promise.withResolvers<Outcome>();
  readonly #timers: (() => void)[] = [];

  constructor(options: DeliveryRunOptions) {
    this.#options = options;
  }

  async outcome(): Promise<Outcome> {
    const { times, message } = this.#options;
    const tooLong = `${message.kind} ${message.id} took more than ${times.softMs} ms`;
    this.#after(times.softMs, () => this.#abort(new Failure('timeout_soft', tooLong)));
    // Counted from the start: after a long block of the event loop both timers may fire in one
    // turn.
    this.#after(times.visibilityMs, () => this.#abandon());
    try {
      return await Promise.race([this.#run(), this.#abandoned.promise]);
    } finally {
      for (const cancel of this.#timers) cancel();
    }
  }

  /** Another consumer has the message now. */
  lose(): void {
    const { times, message } = this.#options;
    this.#abort(new Failure('lease_lost', `${message.kind} ${message.id} was given to another`));
    this.#after(times.visibilityMs - times.softMs, () => this.#abandon());
  }

  /** The process is about to end. */
  stop(): void {
    const { times, message } = this.#options;
    this.#abort(new Failure('canceled', `${message.kind} ${message.id}: the consumer is stopped`));
    this.#after(times.abandonMs, () => this.#abandon());
  }

  async #run(): Promise<Outcome> {
    const { message, attempt, consume } = this.#options;
    const { signal } = this.#controller;
    try {
      return await consume.run({ message, attempt, signal });
    } catch (error) {
      const reason = signal.aborted ? (signal.reason as Failure).code : undefined;
      if (reason === 'canceled') return { do: 'again', afterMs: 0 };
      // An error thrown after the message was handed to another consumer is expected.
      if (reason !== 'lease_lost') consume.onError(`${message.kind} ${message.id}`, error);
      return { do: 'fail' };
    }
  }

  #abort(reason: Failure): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  #abandon(): void {
    const { message, consume } = this.#options;
    const what = `${message.kind} ${message.id}`;
    const reason = 'it ignored the request to end: its slot is freed and its result is ignored';
    consume.onError(what, new Failure('timeout_soft', reason));
    this.#abandoned.resolve({ do: 'abandon' });
  }

  #after(delayMs: number, run: () => void): void {
    this.#timers.push(this.#options.world.setTimer(run, delayMs));
  }
}

/** The delay of a message whose consumer threw at this try. */
export function retryMs(attempt: number, times: QueueTimes, world: World): number {
  const random = (): number => world.random();
  const growth = { baseMs: times.retryMs, factor: 2, capMs: times.retryMsMax };
  return backoffMs({ ...growth, failedTries: attempt - 1, random });
}
