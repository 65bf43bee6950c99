/**
 * Reads the status of a job for streams. The status is derived from all items, so no event carries
 * it: after an event that may have changed it, the store is queried, but not too often for a large
 * job.
 */
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import type { StageState } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../store/driver/database.ts';
import { type JobRow, openProgressOf, statusFrom } from '../../store/job/jobs.ts';
import { getJobWithSequence } from '../../store/job/views.ts';

export interface JobSnapshot {
  /** All events up to this one were committed before the job was read. */
  readonly version: number;
  readonly row: JobRow;
  readonly status: StageState;
}

export interface JobStatusReaderOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
  readonly onRead: (jobId: number, job: JobSnapshot) => void;
}

interface Slot {
  /** Something has changed since the read began. */
  isAsked: boolean;
  cancel: () => void;
}

export class JobStatusReader {
  readonly #options: JobStatusReaderOptions;
  readonly #slots = new Map<number, Slot>();

  constructor(options: JobStatusReaderOptions) {
    this.#options = options;
  }

  /** Undefined if the job no longer exists. */
  async read({ id, key }: JobName): Promise<JobSnapshot | undefined> {
    const { database, lifecycle } = this.#options;
    // Items are read first: a change between the two reads is covered by the version, and its event
    // triggers another read.
    const progress = await openProgressOf(database, id);
    const found = await getJobWithSequence(database, key);
    if (!found) return undefined;
    const { sequence, ...row } = found;
    return { version: sequence, row, status: statusFrom(row, progress, lifecycle) };
  }

  /** Schedules a read, and passes the result to `onRead`. */
  ask(job: JobName): void {
    const slot = this.#slots.get(job.id);
    if (slot) slot.isAsked = true;
    else this.#run(job);
  }

  stop(): void {
    for (const slot of this.#slots.values()) slot.cancel();
    this.#slots.clear();
  }

  #run(job: JobName): void {
    const { world, onRead, onError } = this.#options;
    const slot: Slot = { isAsked: false, cancel: () => undefined };
    this.#slots.set(job.id, slot);
    const startedAt = world.now();
    void this.read(job)
      .then((snapshot) => snapshot && onRead(job.id, snapshot))
      .catch((error) => onError('stream', error))
      .then(() => {
        if (this.#slots.get(job.id) !== slot) return;
        const { statusLookMs, statusLookShare } = limits.event;
        const waitMs = Math.max(statusLookMs, (world.now() - startedAt) * statusLookShare);
        slot.cancel = world.setTimer(() => {
          this.#slots.delete(job.id);
          if (slot.isAsked) this.#run(job);
        }, waitMs);
      });
  }
}

export interface JobName {
  readonly id: number;
  readonly key: string;
}
