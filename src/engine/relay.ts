/**
 * Publishes the event log to listeners. One reader tails the log for all of them; each listener
 * gets every event after its starting point, in order, once.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Event } from '../observe/event.ts';
import { listEvents, newestSequence } from '../store/delivery/events.ts';
import type { Database } from '../store/driver/database.ts';
import type { CommitSignal } from './commit-signal.ts';

export interface RelayOptions {
  readonly database: Database;
  readonly world: World;
  readonly commitSignal: CommitSignal;
  readonly onError: (what: string, error: unknown) => void;
}

export type Listener = (events: readonly Event[]) => void;

export class Relay {
  readonly #database: Database;
  readonly #world: World;
  readonly #commitSignal: CommitSignal;
  readonly #onError: RelayOptions['onError'];
  readonly #listeners = new Set<Listener>();
  readonly #unlisten: () => void;
  #cancelPoll: (() => void) | undefined;
  #last: number | undefined;
  #reading: Promise<void> | undefined;
  #isWanted = false;
  #starting: Promise<void> | undefined;

  constructor({ database, world, commitSignal, onError }: RelayOptions) {
    this.#database = database;
    this.#world = world;
    this.#commitSignal = commitSignal;
    this.#onError = onError;
    this.#unlisten = commitSignal.listen('news', () => void this.#read());
  }

  /** Calls back with new events; returns the current sequence number. */
  async listen(listener: Listener): Promise<{ after: number; stop: () => void }> {
    if (this.#listeners.size === 0) {
      this.#starting ??= newestSequence(this.#database)
        .then((seq) => {
          this.#last = seq;
        })
        .finally(() => {
          this.#starting = undefined;
        });
    }
    await this.#starting;
    await this.#reading;
    this.#listeners.add(listener);
    this.#poll();
    const stop = (): void => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#cancelPoll?.();
    };
    return { after: this.#last ?? 0, stop };
  }

  /** Another process signals new events. */
  wake(): void {
    void this.#read();
  }

  /** Calls back when this process has committed something. */
  onCommit(listener: () => void): () => void {
    return this.#commitSignal.listen('news', listener);
  }

  /** The same, and periodically for commits of other processes. */
  watch(listener: () => void): () => void {
    const unlisten = this.onCommit(listener);
    let cancelPoll = (): void => undefined;
    const poll = (): void => {
      cancelPoll = this.#world.setTimer(() => {
        listener();
        poll();
      }, limits.loop.relayPollMs);
    };
    poll();
    return () => {
      unlisten();
      cancelPoll();
    };
  }

  /** Reads the log to its end a last time, so that every commit of this process is published. */
  async close(): Promise<void> {
    this.#unlisten();
    this.#cancelPoll?.();
    // A read that is ending may not see the last commit.
    await this.#reading;
    await this.#read();
    this.#listeners.clear();
  }

  /** Other processes write to the same log without signaling here. */
  #poll(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = this.#world.setTimer(() => {
      void this.#read();
      if (this.#listeners.size > 0) this.#poll();
    }, limits.loop.relayPollMs);
  }

  #read(): Promise<void> {
    if (this.#listeners.size === 0) return Promise.resolve();
    this.#isWanted = true;
    // If a read fails, the next signal or poll reads again.
    this.#reading ??= this.#readAll()
      .catch((error) => this.#onError('relay', error))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#isWanted && this.#listeners.size > 0) {
      this.#isWanted = false;
      const limit = limits.event.pageMax;
      const events = await listEvents(this.#database, { after: this.#last ?? 0, limit });
      if (events.length === 0) continue;
      this.#last = events.at(-1)?.seq;
      this.#isWanted ||= events.length === limit;
      for (const listener of this.#listeners) listener(events);
    }
  }
}
