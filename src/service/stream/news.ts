/**
 * The only reader of the event log in this process. Each event is resolved to its job and caller
 * once, serialized once, and passed to all subscribers.
 */
import type { Relay } from '../../engine/relay.ts';
import { isRetried, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pause, type World } from '../../kernel/world.ts';
import { type Event, jobEnds } from '../../observe/event.ts';
import { listEvents } from '../../store/delivery/events.ts';
import type { Database } from '../../store/driver/database.ts';
import { listOwners, type OwnerRow } from '../../store/job/views.ts';
import { eventShape } from '../view/serializer.ts';

export interface PublishedEvent {
  readonly event: Event;
  readonly jobKey: string | null;
  /** The owner; null if it has none. */
  readonly caller: string | null;
  readonly isEnd: boolean;
  /** The stream message. It is named, because unnamed messages of a job stream carry the job. */
  text(): string;
}

export interface NewsPage {
  readonly published: readonly PublishedEvent[];
  /** All events up to here have been read. */
  readonly last: number;
  readonly isFull: boolean;
}

export type NewsListener = (published: readonly PublishedEvent[]) => void;

export class News {
  readonly #database: Database;
  readonly #relay: Relay;
  readonly #owners = new Map<number, OwnerRow>();
  readonly #listeners = new Set<NewsListener>();
  readonly #onError: (what: string, error: unknown) => void;
  #position = 0;
  readonly #world: World;
  readonly #ended = new AbortController();
  #handing: Promise<void> = Promise.resolve();
  #stop: (() => void) | undefined;

  constructor(options: {
    database: Database;
    relay: Relay;
    world: World;
    onError: (what: string, error: unknown) => void;
  }) {
    this.#database = options.database;
    this.#relay = options.relay;
    this.#world = options.world;
    this.#onError = options.onError;
  }

  /** All events up to here have been published. */
  get position(): number {
    return this.#position;
  }

  async start(): Promise<void> {
    const { after, stop } = await this.#relay.listen((events) => {
      this.#handing = this.#handing
        .then(() => this.#insist(events))
        .catch((error) => this.#onError('news', error));
    });
    this.#position = Math.max(after, this.#position);
    this.#stop = stop;
  }

  listen(listener: NewsListener): void {
    this.#listeners.add(listener);
  }

  /** Publishes what has been read. It is tried once more if the store is down. */
  async stop(): Promise<void> {
    this.#stop?.();
    this.#ended.abort();
    await this.#handing;
  }

  /** A page of the log: of one job, or of everything that a caller owns. */
  async read(from: {
    readonly jobId?: number | undefined;
    readonly caller: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<NewsPage> {
    const { jobId, caller, after, limit } = from;
    const events = await listEvents(this.#database, { jobId, after, limit });
    const published = (await this.#resolve(events)).filter((each) => each.caller === caller);
    return { published, last: events.at(-1)?.seq ?? after, isFull: events.length === limit };
  }

  /** The key and the caller of a recently seen job. */
  ownerOf(jobId: number): OwnerRow | undefined {
    return this.#owners.get(jobId);
  }

  /**
   * Subscribers have no other source. Events that cannot be resolved while the store is down are
   * published when it is back, in order. Few arrive meanwhile, because they come from the store.
   */
  async #insist(events: readonly Event[]): Promise<void> {
    const { signal } = this.#ended;
    let isReported = false;
    do {
      try {
        return await this.#handOut(events);
      } catch (error) {
        if (!isRetried(toFailure(error).code)) throw error;
        if (!isReported) this.#onError('news', error);
        isReported = true;
        await pause(this.#world, limits.loop.relayPollMs, signal);
      }
    } while (!signal.aborted);
  }

  async #handOut(events: readonly Event[]): Promise<void> {
    const published = await this.#resolve(events);
    this.#position = events.at(-1)?.seq ?? this.#position;
    for (const listener of this.#listeners) listener(published);
  }

  async #resolve(events: readonly Event[]): Promise<PublishedEvent[]> {
    await this.#learnOwners(events);
    return events.map((event) => {
      const owner = event.jobId === null ? undefined : this.#owners.get(event.jobId);
      const named = event.detail?.owner ?? event.detail?.caller;
      let text: string | undefined;
      return {
        event,
        jobKey: owner?.key ?? null,
        caller: owner?.caller ?? (typeof named === 'string' ? named : null),
        isEnd: jobEnds.has(event.kind),
        text: () => {
          const shape = (): string => JSON.stringify(eventShape(event, owner?.key ?? null));
          text ??= `id: ${event.seq}\nevent: event\ndata: ${shape()}\n\n`;
          return text;
        },
      };
    });
  }

  async #learnOwners(events: readonly Event[]): Promise<void> {
    for (const { kind, jobId } of events) {
      if (kind === 'job_moved' && jobId !== null) this.#owners.delete(jobId);
    }
    const unknown = new Set<number>();
    for (const { jobId } of events) {
      if (jobId !== null && !this.#owners.has(jobId)) unknown.add(jobId);
    }
    if (unknown.size === 0) return;
    const owners = await listOwners(this.#database, [...unknown]);
    const excess = this.#owners.size + owners.length - limits.event.jobsRememberedMax;
    for (const id of [...this.#owners.keys()].slice(0, Math.max(excess, 0))) {
      this.#owners.delete(id);
    }
    for (const owner of owners) this.#owners.set(owner.id, owner);
  }
}
