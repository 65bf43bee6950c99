/** The view of one job, as the store has it at one moment. */

import { JoinedReads } from '../../concurrency/joined-reads.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import type { StageState } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { countPartlyRead } from '../../store/document/views.ts';
import type { Database } from '../../store/driver/database.ts';
import { type CauseRow, listCausesOfJob } from '../../store/item/inbox.ts';
import { type JobRow, statusFrom } from '../../store/job/jobs.ts';
import { getJobWithSequence, type StandingRow } from '../../store/job/views.ts';
import type { ItemCounts } from './item-counts.ts';

export interface JobView {
  /** The number of the last event before the job was read. */
  readonly version: number;
  readonly at: number;
  readonly row: JobRow;
  readonly status: StageState;
  readonly standings: readonly StandingRow[];
  readonly causes: readonly CauseRow[];
  readonly partlyRead: number;
  /** False: its items were counted shortly before it was read. */
  readonly isWhole: boolean;
  /** Increased with every change of this type, so that two releases can run side by side. */
  readonly form: number;
}

/** The source of job views: the store alone, or also the views that orchestrators share. */
export interface ShownJobs {
  read(key: string): Promise<JobView | undefined>;
  /** After a command, the next request to any process shows its effect. */
  refresh(key: string): Promise<void>;
}

export interface JobViewsOptions {
  readonly database: Database;
  readonly world: Pick<World, 'afterTurn'>;
  readonly standings: ItemCounts;
  readonly lifecycle: Lifecycle;
}

export class JobViews {
  readonly #options: JobViewsOptions;
  readonly #reads: JoinedReads<JobView | undefined>;

  constructor(options: JobViewsOptions) {
    this.#options = options;
    this.#reads = new JoinedReads(options.world, (key) => this.#load(key));
  }

  /** From the store alone: always current. */
  get shown(): ShownJobs {
    return { read: (key) => this.of(key), refresh: async () => undefined };
  }

  /** Many clients may poll one job at the same time. */
  of(key: string): Promise<JobView | undefined> {
    return this.#reads.read(key);
  }

  async #load(key: string): Promise<JobView | undefined> {
    const { database, standings, lifecycle } = this.#options;
    const at = database.now();
    const found = await getJobWithSequence(database, key);
    if (!found) return undefined;
    const { sequence, ...row } = found;
    const { rows, isFresh } = await standings.of(row);
    const progress = rows.flatMap((each) => (each.is_open === 1 ? [each.progress] : []));
    return {
      version: sequence,
      at,
      row,
      status: statusFrom(row, progress, lifecycle),
      standings: rows,
      causes: row.items_failed > 0 ? await listCausesOfJob(database, row.id) : [],
      partlyRead: row.ended_at === null ? 0 : await countPartlyRead(database, row),
      isWhole: isFresh,
      form: limits.hotView.form,
    };
  }
}
