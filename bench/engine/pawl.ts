/** Pawl as measured: the engine as shipped, with steps that do nothing. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { realWorld } from '../../src/app/world.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Ledger } from '../../src/engine/item/ledger.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import { defineLifecycle, type Lifecycle } from '../../src/kernel/lifecycle/item.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { openSqlite } from '../../src/store/driver/sqlite.ts';
import { sql } from '../../src/store/driver/statement.ts';

/** A new store: a database on a server, or a file in a directory. */
export interface Store {
  readonly url?: string;
  readonly serverPid?: number;
  readonly directory: string;
}

export const world = realWorld();

/** The lifecycle of a job in a plain queue. */
export const oneStep = defineLifecycle([{ step: 'done', bit: 0, after: [], stage: 'scraping' }]);

export async function openStore(store: Store, lifecycle: Lifecycle): Promise<Database> {
  const database =
    store.url === undefined
      ? openSqlite({ path: join(store.directory, 'bench.db'), world })
      : await openPostgres({ url: store.url });
  await migrate(database, lifecycle);
  return database;
}

const stepTimeoutMs = 60_000;

/** Missing steps do nothing. */
export function pipelineOf(
  lifecycle: Lifecycle,
  given: Readonly<Record<string, StepFunction>> = {},
): Pipeline {
  const steps = lifecycle.steps.map(({ step }) => [step, given[step] ?? nothing] as const);
  return { lifecycle, steps: Object.fromEntries(steps), timeoutMs: () => stepTimeoutMs };
}

async function nothing(): Promise<undefined> {}

export function engineOver(
  database: Database,
  pipeline: Pipeline,
  { places, ledger }: { places?: number; ledger?: (own: Ledger) => Ledger } = {},
): Engine {
  return new Engine({
    database,
    pipeline,
    world,
    liveness: thisProcess(),
    workers: places,
    ledger,
    onError: (what, error) => {
      console.error(what, error);
      process.exit(1);
    },
  });
}

export interface Load {
  readonly documents: number;
  readonly perJob: number;
}

const submissionsAtOnce = 4;

/** Submits the load as jobs of so many documents, a few jobs at a time. */
export async function submitLoad(engine: Engine, { documents, perJob }: Load): Promise<void> {
  let next = 0;
  const submitSome = async (): Promise<void> => {
    while (next < documents) {
      const first = next;
      next += perJob;
      await submit(engine, first, Math.min(perJob, documents - first));
    }
  };
  await Promise.all(Array.from({ length: submissionsAtOnce }, submitSome));
}

export async function submit(engine: Engine, first: number, count: number): Promise<number[]> {
  const sources = Array.from({ length: count }, (_, index) => ({
    kind: 'inline' as const,
    source: `document-${first + index}`,
  }));
  const { itemIds } = await engine.commands.submit({ caller: 'bench', corpus: 'bench', sources });
  return [...itemIds];
}

const openJobs = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM jobs WHERE ended_at IS NULL`;
const itemsNotDone = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM items WHERE step <> 'done'`;
const pollMs = 5;

/**
 * A last step that counts, and a promise for all jobs to be stored as ended. The store is queried
 * only after everything has run, so that waiting does not disturb the work.
 */
export function completionOf(documents: number): {
  readonly step: StepFunction;
  ended(database: Database): Promise<void>;
} {
  const { promise: allRan, resolve } = Promise.withResolvers<void>();
  let ran = 0;
  return {
    async step() {
      if (++ran === documents) resolve();
      return undefined;
    },
    async ended(database) {
      await allRan;
      while ((await database.run(openJobs))[0]?.count !== 0) await pause(pollMs);
    },
  };
}

/** A fast run that lost something does not count. */
export async function checkAllDone(database: Database): Promise<void> {
  const [row] = await database.run(itemsNotDone);
  if (row?.count !== 0) throw new Error(`${row?.count} documents are not done`);
}

/**
 * Brings a store to the state after a minute of use: statistics, and its log written back. Not
 * timed.
 */
export async function settleStatistics(database: Database): Promise<void> {
  if (database.dialect.name === 'sqlite') {
    await database.run({ text: 'PRAGMA wal_checkpoint(TRUNCATE)' });
    return;
  }
  await database.run({ text: 'VACUUM ANALYZE' });
  await database.run({ text: 'CHECKPOINT' });
}
