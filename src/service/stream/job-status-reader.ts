/**
 * How streams learn the status of a job. It is derived from all of its items, so no event says it:
 * after an event that may have changed it, the store is asked, but not too often for a large job.
 */
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import type { StageState } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../store/driver/database.ts';
import { type JobRow, openProgressOf, statusFrom } from '../../store/job/jobs.ts';
import { getJobWithSequence } from '../../store/job/views.ts';

export interface LookedJob {
  /** All events up to this one were committed before the job was read. */
  readonly version: number;
  readonly row: JobRow;
  readonly status: StageState;
}

export interface JobLooksOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
  readonly onLooked: (jobId: number, job: LookedJob) => void;
}

interface Slot {
  /** Something has changed since the look began. */
  isAsked: boolean;
  cancel: () => void;
}

export class JobLooks {
  readonly #options: JobLooksOptions;
  readonly #slots = new Map<number, Slot>();

  constructor(options: JobLooksOptions) {
    this.#options = options;
  }

  /** Undefined for a job that is gone. */
  async look({ id, key }: JobName): Promise<LookedJob | undefined> {
    const { database, lifecycle } = this.#options;
    // The items first: what changes between the two reads is covered by the version, and the event
    // that tells of it has the job looked at again.
    const progress = await openProgressOf(database, id);
    const found = await getJobWithSequence(database, key);
    if (!found) return undefined;
    const { sequence, ...row } = found;
    return { version: sequence, row, status: statusFrom(row, progress, lifecycle) };
  }

  /** Looks soon, and tells `onLooked`. */
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
    const { world, onLooked, onError } = this.#options;
    const slot: Slot = { isAsked: false, cancel: () => undefined };
    this.#slots.set(job.id, slot);
    const startedAt = world.now();
    void this.look(job)
      .then((looked) => looked && onLooked(job.id, looked))
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
