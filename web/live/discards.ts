/**
 * Discarding is final, so it is delayed by a few seconds during which it can be undone. Pending
 * discards are sent at the latest when the page is closed.
 */

import { Client } from '../../src/client/http.ts';
import type { Cause, Chosen } from '../../src/contract/schema/schema.ts';
import type { Keyring } from './keyring.ts';

export interface DiscardsOptions {
  readonly client: () => Client;
  readonly keyring: Keyring;
  readonly onDone: () => void;
  readonly onError: (error: unknown) => void;
}

const undoMs = 6000;

/** Causes that are not discarded, counted without their discarded documents. */
export type LeftOf = <Counted extends Pick<Cause, 'fingerprint' | 'count'>>(
  causes: readonly Counted[],
) => Counted[];

interface Waiting {
  readonly name: string;
  readonly fingerprint: string;
  readonly chosen: Chosen;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Discards {
  readonly #options: DiscardsOptions;
  readonly #listeners = new Set<() => void>();
  #waiting: readonly Waiting[] = [];
  #names: ReadonlySet<string> = new Set();
  #leftOf: LeftOf = (causes) => [...causes];

  constructor(options: DiscardsOptions) {
    this.#options = options;
    addEventListener('pagehide', () => this.#sendAll());
  }

  /** The hidden entry: the id of an item, or a cause. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same function until the pending discards change. */
  get leftOf(): LeftOf {
    return this.#leftOf;
  }

  add({ name, fingerprint, chosen }: Pick<Waiting, 'name' | 'fingerprint' | 'chosen'>): void {
    const timer = setTimeout(() => void this.#send(name), undoMs);
    this.#set([...this.#waiting, { name, fingerprint, chosen, timer }]);
  }

  undo(name: string): void {
    for (const waiting of this.#waiting) if (waiting.name === name) clearTimeout(waiting.timer);
    this.#set(this.#waiting.filter((waiting) => waiting.name !== name));
  }

  /** Sends pending discards before a request that would otherwise include them. */
  async settle(): Promise<void> {
    await Promise.all(this.#waiting.map(({ name }) => this.#send(name)));
  }

  async #send(name: string): Promise<void> {
    const waiting = this.#waiting.find((each) => each.name === name);
    if (!waiting) return;
    try {
      await this.#options.client().ask('POST /inbox/discard', { body: waiting.chosen });
    } catch (error) {
      this.#options.onError(error);
    }
    this.#options.onDone();
    this.undo(name);
  }

  /** A closing page cannot wait for a response; the browser sends these requests anyway. */
  #sendAll(): void {
    const lasting: typeof fetch = (input, init) => fetch(input, { ...init, keepalive: true });
    const { key } = this.#options.keyring;
    const client = new Client({ url: location.origin, key, fetch: lasting });
    for (const { chosen, timer } of this.#waiting) {
      clearTimeout(timer);
      void client.ask('POST /inbox/discard', { body: chosen });
    }
    this.#set([]);
  }

  #set(waiting: readonly Waiting[]): void {
    this.#waiting = waiting;
    this.#names = new Set(waiting.map(({ name }) => name));
    this.#leftOf = (causes) => causes.flatMap((cause) => withoutDiscarded(cause, waiting));
    for (const listener of this.#listeners) listener();
  }
}

function withoutDiscarded<Counted extends Pick<Cause, 'fingerprint' | 'count'>>(
  cause: Counted,
  waiting: readonly Waiting[],
): Counted[] {
  const own = waiting.filter(({ fingerprint }) => fingerprint === cause.fingerprint);
  const isWhole = own.some(({ chosen }) => chosen.cause !== undefined);
  const left = isWhole ? 0 : cause.count - own.length;
  return left > 0 ? [{ ...cause, count: left }] : [];
}
