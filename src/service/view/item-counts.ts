/**
 * Item counts of a job. Counting takes time in proportion to the items of a running job, so a fresh
 * count is reused for requests in the next moment.
 */
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../store/driver/database.ts';
import type { JobRow } from '../../store/job/jobs.ts';
import { listStandings, type StandingRow } from '../../store/job/views.ts';

interface Counted {
  readonly at: number;
  readonly updatedAt: number;
  readonly rows: Promise<StandingRow[]>;
}

export class ItemCounts {
  readonly #database: Database;
  readonly #world: World;
  readonly #counted = new Map<number, Counted>();

  constructor({ database, world }: { database: Database; world: World }) {
    this.#database = database;
    this.#world = world;
  }

  /** Fresh counts were made for this request. */
  async of(row: JobRow): Promise<{ rows: readonly StandingRow[]; isFresh: boolean }> {
    const isStill = row.started_at === null || isFinal(jobMachine, row.state);
    if (isStill) return { rows: standingStill(row), isFresh: true };
    const now = this.#world.now();
    const known = this.#counted.get(row.id);
    // A job that a command or a finished item has changed since is counted again.
    const isKnown =
      known !== undefined &&
      known.updatedAt === row.updated_at &&
      now - known.at < limits.request.standingsAgeMsMax;
    if (isKnown) return { rows: await known.rows, isFresh: false };
    const rows = listStandings(this.#database, row.id);
    this.#remember(row.id, { at: now, updatedAt: row.updated_at, rows });
    return { rows: await rows, isFresh: true };
  }

  #remember(jobId: number, counted: Counted): void {
    this.#counted.delete(jobId);
    this.#counted.set(jobId, counted);
    counted.rows.catch(() => this.#counted.delete(jobId));
    const [oldest] = this.#counted.keys();
    const isCrowded = this.#counted.size > limits.request.standingsRememberedMax;
    if (isCrowded && oldest !== undefined) this.#counted.delete(oldest);
  }
}

/** If no item moves, the counters of the job are enough, and no items are read. */
function standingStill(row: JobRow): StandingRow[] {
  const { items_total: total, items_done: done, items_failed: failed } = row;
  const canceled = row.items_canceled;
  const counts = { enqueued: total - done - failed - canceled, done, failed, canceled };
  const still = { progress: 0, is_open: 0, attempt: 0, due_at: null, waiting_code: null };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([step, count]) => ({ step, count, ...still }));
}
