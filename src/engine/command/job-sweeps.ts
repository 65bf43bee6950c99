/**
 * Applies a job command to the items of the job, a bounded number per transaction. The command
 * stays on the job (`sweep`) until no item is left to move, so another process can take over after
 * a crash or concurrently.
 */
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import type { Sweep } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pause, type World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { pruneInPlaceOf } from '../../store/document/prune.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { holdFences, sweptItems } from '../../store/item/fence.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import {
  cancelLocked,
  lockSwept,
  type OpenRow,
  pauseLocked,
  resumeLocked,
} from '../../store/item/interventions.ts';
import { gateBit } from '../../store/item/reports.ts';
import { getJobById, listSweeps } from '../../store/job/jobs.ts';
import { endSweep } from '../../store/job/moves.ts';
import type { Ring } from '../commit-signal.ts';

export interface JobSweepsOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly ring: (ring: Ring) => void;
  /** Items per transaction; `limits.sweep.itemsMax` by default. */
  readonly sweepItemsMax?: number | undefined;
}

interface Page {
  readonly jobId: number;
  readonly sweep: Sweep;
  readonly part: number;
  readonly after: number;
}

export class JobSweeps {
  readonly #options: JobSweepsOptions;
  readonly #running = new Map<number, Promise<void>>();
  #isStopped = false;

  constructor(options: JobSweepsOptions) {
    this.#options = options;
  }

  get itemsMax(): number {
    return this.#options.sweepItemsMax ?? limits.sweep.itemsMax;
  }

  /** Resolves when no item of the job is left to sweep. */
  run(jobId: number): Promise<void> {
    const before = this.#running.get(jobId);
    // A running sweep may have started with an earlier command: it ends first.
    const running = (before ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#sweep(jobId))
      .finally(() => {
        if (this.#running.get(jobId) === running) this.#running.delete(jobId);
      });
    this.#running.set(jobId, running);
    return running;
  }

  /** Runs sweeps that other processes left and that this process is not running already. */
  async runAll(): Promise<void> {
    const found = await listSweeps(this.#options.database, limits.sweep.jobsMax);
    for (const { id } of found) if (!this.#running.has(id)) await this.run(id);
  }

  /** Gives running sweeps some time to end. Another process finishes the rest. */
  async stop(): Promise<void> {
    const { world } = this.#options;
    const running = Promise.allSettled(this.#running.values());
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = world.setTimer(resolve, limits.sweep.stopMsMax);
    });
    await Promise.race([running, late]);
    cancel();
    this.#isStopped = true;
    await running;
  }

  async #sweep(jobId: number): Promise<void> {
    const { database, world } = this.#options;
    while (!this.#isStopped) {
      const sweep = (await getJobById(database, jobId))?.sweep ?? null;
      if (sweep === null) return;
      for (const part of sweptItems[sweep].keys()) await this.#sweepPart({ jobId, sweep, part });
      const isOver = await database.write((transaction) =>
        endSweep(transaction, { id: jobId, sweep }),
      );
      // Items that another process was moving were skipped: run once more.
      if (!isOver) await pause(world, limits.sweep.pauseMs);
    }
  }

  async #sweepPart(part: Omit<Page, 'after'>): Promise<void> {
    const { database, world, ring } = this.#options;
    for (let after = 0; !this.#isStopped; ) {
      const rows = await database.write(async (transaction) => {
        const swept = await this.#sweepSome(transaction, { ...part, after });
        failpoint(world, 'sweep.before-commit');
        return swept;
      });
      const last = rows.at(-1);
      if (!last) return;
      failpoint(world, 'sweep.after-commit');
      ring('work');
      after = last.id;
    }
  }

  async #sweepSome(transaction: Transaction, page: Page): Promise<readonly OpenRow[]> {
    const { database, lifecycle } = this.#options;
    const { jobId, sweep } = page;
    await holdFences(transaction, [jobId]);
    // A later command may have replaced this one.
    if ((await getJobById(transaction, jobId))?.sweep !== sweep) return [];
    const rows = await lockSwept(transaction, { ...page, limit: this.itemsMax });
    if (rows.length === 0) return rows;
    const now = database.now();
    if (sweep === 'cancel') await cancelLocked(transaction, rows, now);
    if (sweep === 'pause') await pauseLocked(transaction, rows);
    if (sweep === 'resume') await resumeLocked(transaction, rows, gateBit(lifecycle));
    const pruned = sweep === 'cancel' ? await pruneInPlaceOf(transaction, rows, lifecycle) : [];
    await admitAtGates(transaction, gatesOf(rows.filter(isAdmitted(sweep))), now);
    const events = [...rows.map(canceled), ...pruned];
    if (sweep === 'cancel') await appendEvents(transaction, events, now);
    return rows;
  }
}

/** Whether the item has left a slot at its gate, or needs one. */
function isAdmitted(sweep: Sweep): (row: OpenRow) => boolean {
  return sweep === 'resume' ? () => true : ({ gate_held }) => gate_held === 1;
}

function canceled({ id, job_id }: OpenRow) {
  return { kind: 'item_canceled', jobId: job_id, itemId: id } as const;
}
