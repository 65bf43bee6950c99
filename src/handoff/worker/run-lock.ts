/**
 * A lock for the runs of one worker process. Most runs share it; an exclusive run waits until the
 * others have ended, and keeps new ones out until it has ended itself.
 */
export class RunLock {
  #inside = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  /** Resolves with the function that ends the run. */
  async enter(signal: AbortSignal): Promise<() => void> {
    await this.#until(() => !this.#isClosed && this.#begin(), signal);
    return () => this.#end();
  }

  /** The same for an exclusive run. It must not hold the lock already. */
  async enterAlone(signal: AbortSignal): Promise<() => void> {
    await this.#until(() => !this.#isClosed && this.#close(), signal);
    try {
      await this.#until(() => this.#inside === 0 && this.#begin(), signal);
    } catch (error) {
      this.#reopen();
      throw error;
    }
    return () => {
      this.#end();
      this.#reopen();
    };
  }

  #begin(): true {
    this.#inside += 1;
    return true;
  }

  #end(): void {
    this.#inside -= 1;
    this.#tell();
  }

  #close(): true {
    this.#isClosed = true;
    return true;
  }

  #reopen(): void {
    this.#isClosed = false;
    this.#tell();
  }

  /** Repeats until it succeeds. The check and the acquisition are one synchronous step. */
  async #until(take: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!take()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      this.#waiting.push(wake);
      signal.addEventListener('abort', wake, { once: true });
      await promise;
      signal.removeEventListener('abort', wake);
      signal.throwIfAborted();
    }
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
