/**
 * The progress of running steps in this process. It is sent to clients but not stored: after a
 * crash, an unfinished step runs again.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { NewEvent } from '../../observe/event.ts';

export interface Working {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

export type ProgressListener = (jobId: number, itemId: number, working: Working) => void;

export class ProgressBoard {
  readonly #byItem = new Map<number, Working>();
  readonly #listeners = new Set<ProgressListener>();

  listen(listener: ProgressListener): void {
    this.#listeners.add(listener);
  }

  /** Applies a `step_progressed` event of the executor. */
  readonly tell = ({ jobId, itemId, step, detail }: NewEvent): void => {
    if (jobId === null || itemId == null || step == null) return;
    const working = { step, done: Number(detail?.done), total: Number(detail?.total) };
    this.#byItem.delete(itemId);
    this.#byItem.set(itemId, working);
    if (this.#byItem.size > limits.request.placesCountedMax) this.#forgetOldest();
    for (const listener of this.#listeners) listener(jobId, itemId, working);
  };

  /** Null if the step has been completed since. */
  of(itemId: number, isReached: (step: string) => boolean): Working | null {
    const working = this.#byItem.get(itemId);
    return working === undefined || isReached(working.step) ? null : working;
  }

  forget(itemId: number): void {
    this.#byItem.delete(itemId);
  }

  #forgetOldest(): void {
    const [oldest] = this.#byItem.keys();
    if (oldest !== undefined) this.#byItem.delete(oldest);
  }
}
