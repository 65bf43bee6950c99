/**
 * A lock on a batch task, renewed while its process works on the task. No other process takes the
 * task meanwhile, even if the provider is slow; a process that dies loses it when the lock expires.
 * The renewal is fenced by the epoch: the signal stops a process that has lost the task.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { renewHold } from '../../store/batch/taking.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';
import type { BatchOptions } from './submit.ts';

type HoldOptions = Pick<BatchOptions, 'database' | 'world' | 'holdMs' | 'onError'>;

export class TaskLock {
  /** Aborted when the task is lost, or the process stops. */
  readonly signal: AbortSignal;
  readonly #row: BatchTaskRow;
  readonly #options: HoldOptions;
  readonly #lost = new AbortController();
  #heldUntil: number;
  #cancelTimer: () => void = () => undefined;
  #renewing: Promise<void> | undefined;
  #isReleased = false;

  constructor(row: BatchTaskRow, options: HoldOptions, signal: AbortSignal) {
    this.#row = row;
    this.#options = options;
    this.#heldUntil = row.next_at;
    this.signal = AbortSignal.any([signal, this.#lost.signal]);
    this.#schedule();
  }

  /** Whether a call that begins now ends before another process may take the task. */
  get isLongEnough(): boolean {
    const { database, holdMs = limits.batch.holdMs } = this.#options;
    const reserveMs = limits.batch.holdReserveFactor * holdMs;
    return !this.signal.aborted && database.now() + reserveMs <= this.#heldUntil;
  }

  /** Stops the renewal. Called before the task is moved: a late renewal must not move it back. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#cancelTimer();
    await this.#renewing;
  }

  #schedule(): void {
    const { world, holdMs = limits.batch.holdMs } = this.#options;
    const intervalMs = holdMs / limits.batch.holdRenewalsPerHold;
    this.#cancelTimer = world.setTimer(() => {
      this.#renewing = this.#renew().finally(() => {
        this.#renewing = undefined;
        if (!this.#isReleased && !this.#lost.signal.aborted) this.#schedule();
      });
    }, intervalMs);
  }

  async #renew(): Promise<void> {
    const { database, holdMs = limits.batch.holdMs, onError } = this.#options;
    const heldUntil = database.now() + holdMs;
    try {
      const isOurs = await database.write((transaction) =>
        renewHold(transaction, this.#row, heldUntil),
      );
      if (isOurs) this.#heldUntil = heldUntil;
      else this.#lost.abort();
    } catch (error) {
      // The store may be back before the lock expires.
      onError(`renewing the lock on batch task ${this.#row.key}`, error);
      if (database.now() >= this.#heldUntil) this.#lost.abort();
    }
  }
}
