/**
 * The time in which an open Pawl can be used. `end` first refuses new calls, then waits for the
 * running ones, so that no call meets a closed database.
 */
import { Failure, toFailure } from '../../kernel/failure/failure.ts';

export class Lifetime {
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** Aborts when Pawl is being closed. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  check(): void {
    if (this.#ending.signal.aborted) throw closedFailure();
  }

  /**
   * Runs a call to its end, which `end` waits for. An aborted signal rejects the promise at once
   * with its reason; a call that has begun still finishes, so that nothing is left half done.
   */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.check();
    const running = asFailure(call());
    this.#running.add(running);
    const forget = (): void => void this.#running.delete(running);
    running.then(forget, forget);
    return signal ? abortable(running, signal) : running;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#running);
  }
}

export function closedFailure(): Failure {
  return new Failure('pawl_closed', 'this Pawl is closed: open it again to use it');
}

/** Every error that leaves the library is a `Failure`, apart from the reason of a signal. */
export async function asFailure<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw toFailure(error);
  }
}

/** The result, or the reason of the signal if that aborts first. */
export async function abortable<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
