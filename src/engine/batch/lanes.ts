/**
 * Tasks that need the same providers form a lane. Each lane has its own concurrency, so that a
 * hanging provider delays no other. A process has the lanes of the providers it has settings for,
 * and ignores all other tasks.
 */
import { limits } from '../../kernel/limits/limits.ts';
import {
  assignProviders,
  listServing,
  listUnassigned,
  type ServedTaking,
} from '../../store/batch/taking.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { servedByOf } from './plan.ts';
import type { BatchOptions } from './submit.ts';
import { TaskLock } from './task-lock.ts';

/** The lanes of this process that have tasks. */
export async function openLanes(options: BatchOptions): Promise<string[]> {
  const { database, providers } = options;
  if (providers.names.length === 0) return [];
  const lanes = await listServing(database);
  if (lanes.includes(null)) lanes.push(...(await assignOlder(options)));
  const own = lanes.filter((lane) => lane !== null && providers.serves(lane));
  return [...new Set(own as string[])];
}

/** Tasks of an older store go to the first process that has providers for them. */
async function assignOlder({ database, providers }: BatchOptions): Promise<string[]> {
  const assigned: string[] = [];
  for (const row of await listUnassigned(database, limits.loop.pruneBatchMax)) {
    const servedBy = servedByOf(row, providers);
    if (servedBy === undefined) continue;
    const { id } = row;
    await database.write((transaction) => assignProviders(transaction, { id, servedBy }));
    assigned.push(servedBy);
  }
  return assigned;
}

export interface PoolOptions {
  /** Concurrent tasks of one lane. */
  readonly size: number;
  readonly take: (transaction: Transaction, taking: ServedTaking) => Promise<BatchTaskRow[]>;
  readonly work: (row: BatchTaskRow, lock: TaskLock) => Promise<void>;
  /** For messages: a description of the work. */
  readonly what: string;
}

export class TaskPool {
  readonly #batch: BatchOptions;
  readonly #pool: PoolOptions;
  readonly #signal: AbortSignal;
  readonly #running = new Map<string, Set<Promise<void>>>();

  constructor(batch: BatchOptions, signal: AbortSignal, pool: PoolOptions) {
    this.#batch = batch;
    this.#signal = signal;
    this.#pool = pool;
  }

  /** Starts due tasks up to the concurrency limit, without waiting for them. */
  async fill(lanes: readonly string[]): Promise<{ taken: number; isFull: boolean }> {
    const taken = await Promise.all(lanes.map((lane) => this.#fillLane(lane)));
    return {
      taken: taken.reduce((sum, count) => sum + count, 0),
      isFull: taken.some((count) => count === this.#pool.size),
    };
  }

  /** Resolves when no task is running. */
  async drain(): Promise<void> {
    await Promise.all([...this.#running.values()].flatMap((running) => [...running]));
  }

  async #fillLane(lane: string): Promise<number> {
    const { database, holdMs = limits.batch.holdMs, onError } = this.#batch;
    const { size, take, what } = this.#pool;
    const running = this.#running.get(lane) ?? new Set();
    this.#running.set(lane, running);
    const limit = size - running.size;
    if (limit <= 0) return 0;
    const now = database.now();
    const taking = { servedBy: lane, limit, now, heldUntil: now + holdMs };
    const rows = await database.write((transaction) => take(transaction, taking));
    for (const row of rows) {
      // A failed task is due again when its lock expires.
      const working: Promise<void> = this.#work(row)
        .catch((error: unknown) => onError(`${what} batch task ${row.key}`, error))
        .finally(() => running.delete(working));
      running.add(working);
    }
    return rows.length;
  }

  async #work(row: BatchTaskRow): Promise<void> {
    const lock = new TaskLock(row, this.#batch, this.#signal);
    try {
      await this.#pool.work(row, lock);
    } finally {
      await lock.release();
    }
  }
}
