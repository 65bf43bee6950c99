/**
 * One reader of the event log for everyone in this process. Each event is named with its job and
 * its caller once, put into words once, and handed to all who listen.
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

export interface Told {
  readonly event: Event;
  readonly jobKey: string | null;
  /** Whose it is; null where nobody's. */
  readonly caller: string | null;
  readonly isEnd: boolean;
  /** As a stream sends it: named, because the unnamed messages of a job's stream are the job. */
  text(): string;
}

export interface NewsPage {
  readonly told: readonly Told[];
  /** Everything up to here has been looked at. */
  readonly last: number;
  readonly isFull: boolean;
}

export type NewsListener = (told: readonly Told[]) => void;

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

  /** All events up to here have been handed out. */
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

  async stop(): Promise<void> {
    this.#stop?.();
    this.#ended.abort();
    await this.#handing;
  }

  /** A page of the log: of one job, or of everything that is a caller's. */
  async read(from: {
    readonly jobId?: number | undefined;
    readonly caller: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<NewsPage> {
    const { jobId, caller, after, limit } = from;
    const events = await listEvents(this.#database, { jobId, after, limit });
    const told = (await this.#tell(events)).filter((each) => each.caller === caller);
    return { told, last: events.at(-1)?.seq ?? after, isFull: events.length === limit };
  }

  /** The key and the caller of a job, if it was heard of lately. */
  ownerOf(jobId: number): OwnerRow | undefined {
    return this.#owners.get(jobId);
  }

  /**
   * Those who listen have no other source: what cannot be told while the store is away is told when
   * it is back, and nothing overtakes it. Meanwhile hardly anything comes, for it comes from there.
   */
  async #insist(events: readonly Event[]): Promise<void> {
    const { signal } = this.#ended;
    for (let isTold = false; !signal.aborted; ) {
      try {
        return await this.#handOut(events);
      } catch (error) {
        if (!isRetried(toFailure(error).code)) throw error;
        if (!isTold) this.#onError('news', error);
        isTold = true;
        await pause(this.#world, limits.loop.relayPollMs, signal);
      }
    }
  }

  async #handOut(events: readonly Event[]): Promise<void> {
    const told = await this.#tell(events);
    this.#position = events.at(-1)?.seq ?? this.#position;
    for (const listener of this.#listeners) listener(told);
  }

  async #tell(events: readonly Event[]): Promise<Told[]> {
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
