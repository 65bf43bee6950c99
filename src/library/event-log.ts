/** Follows the event log: every event after a number once and in order, past and future. */
import type { Event } from '../contract/schema/schema.ts';
import type { Relay } from '../engine/relay.ts';
import { job as jobMachine } from '../kernel/lifecycle/job.ts';
import { isFinal } from '../kernel/lifecycle/machine.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { News } from '../service/stream/news.ts';
import { eventShape } from '../service/view/serializer.ts';
import { listEvents, newestSequence } from '../store/delivery/events.ts';
import type { Database } from '../store/driver/database.ts';
import { getJobById, type JobRow } from '../store/job/jobs.ts';
import type { Lifetime } from './call/lifetime.ts';

export interface EventLogOptions {
  readonly database: Database;
  readonly relay: Relay;
  readonly world: World;
  readonly lifetime: Lifetime;
  readonly caller: string;
  readonly onError: (what: string, error: unknown) => void;
}

export interface Following {
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface EventPage {
  readonly events: readonly Event[];
  /** All events up to here have been read. */
  readonly last: number;
  readonly isFull: boolean;
}

interface Source {
  readonly after: number;
  read(after: number): Promise<EventPage>;
  /** Whether no event will follow those that are stored now. */
  hasEnded(): Promise<boolean>;
}

const limit = limits.event.pageMax;

export class EventLog {
  readonly #options: EventLogOptions;
  readonly #news: News;

  constructor(options: EventLogOptions) {
    const { database, relay, world, onError } = options;
    this.#options = options;
    this.#news = new News({ database, relay, world, onError });
  }

  /** The events of a job, until it ends, the signal aborts or Pawl is closed. */
  ofJob({ id: jobId, key }: JobRow, { after = 0, signal }: Following): AsyncGenerator<Event> {
    const { database } = this.#options;
    return this.#follow(signal, async () => ({
      after,
      read: async (from) => {
        const events = await listEvents(database, { jobId, after: from, limit });
        return {
          events: events.map((event) => eventShape(event, key)),
          last: events.at(-1)?.seq ?? from,
          isFull: events.length === limit,
        };
      },
      hasEnded: () => this.#hasEnded(jobId),
    }));
  }

  /** All events of the caller, from now by default, until the signal aborts or Pawl is closed. */
  all({ after, signal }: Following): AsyncGenerator<Event> {
    const { database, caller } = this.#options;
    return this.#follow(signal, async () => ({
      after: after ?? (await newestSequence(database)),
      read: async (from) => {
        const { published, last, isFull } = await this.#news.read({ caller, after: from, limit });
        const events = published.map(({ event, jobKey }) => eventShape(event, jobKey));
        return { events, last, isFull };
      },
      hasEnded: async () => false,
    }));
  }

  /** Resolves when the job has ended, the signal aborts or Pawl is closed. */
  untilEnd({ id }: JobRow, signal: AbortSignal | undefined): Promise<void> {
    return this.until(() => this.#hasEnded(id), signal);
  }

  /** Asks again after each commit, until the answer is yes, the signal aborts or Pawl is closed. */
  async until(isOver: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
    const { relay, lifetime } = this.#options;
    const stopping = AbortSignal.any([lifetime.ending, ...(signal ? [signal] : [])]);
    const commits = new CommitBell(stopping);
    const stop = relay.watch(() => commits.ring());
    try {
      while (!stopping.aborted && !(await lifetime.run(isOver))) {
        await commits.rung();
      }
    } finally {
      stop();
      commits.takeDown();
    }
  }

  async *#follow(
    signal: AbortSignal | undefined,
    open: () => Promise<Source>,
  ): AsyncGenerator<Event> {
    const { relay, lifetime } = this.#options;
    lifetime.check();
    const stopping = AbortSignal.any([lifetime.ending, ...(signal ? [signal] : [])]);
    const commits = new CommitBell(stopping);
    const { stop } = await lifetime.run(() => relay.listen(() => commits.ring()));
    try {
      if (stopping.aborted) return;
      const source = await lifetime.run(open);
      for (let { after } = source; !stopping.aborted; await commits.rung()) {
        // Read before the events: if the job has ended, all of its events are already stored.
        const hasEnded = await lifetime.run(source.hasEnded);
        for (let isFull = true; isFull && !stopping.aborted; ) {
          const page = await lifetime.run(() => source.read(after));
          for (const event of page.events) {
            yield event;
            if (stopping.aborted) return;
          }
          after = page.last;
          isFull = page.isFull;
        }
        if (hasEnded) return;
      }
    } finally {
      stop();
      commits.takeDown();
    }
  }

  async #hasEnded(jobId: number): Promise<boolean> {
    const row = await getJobById(this.#options.database, jobId);
    return row === undefined || isFinal(jobMachine, row.state);
  }
}

/** Remembers a notification, so that none between two waits is missed. */
class CommitBell {
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.ring();
  #isRung = false;
  #answer: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.ring();
  }

  /** Removes the listener: a long-lived signal would keep it in memory. */
  takeDown(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  ring(): void {
    this.#isRung = true;
    this.#answer?.();
  }

  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#answer = resolve));
    this.#isRung = false;
  }
}
