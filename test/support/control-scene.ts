/**
 * A large job that runs in two engines on one store, and a person who stops it: the same contention
 * as in a service with two orchestrators.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { realWorld } from '../../src/app/world.ts';
import { Engine } from '../../src/engine/engine.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import { Failure, toFailure } from '../../src/kernel/failure/failure.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { setGateLimits } from '../../src/store/item/gates.ts';
import { countWithoutCause } from '../../src/store/item/items.ts';
import { getJob, type JobRow } from '../../src/store/job/jobs.ts';

const caller = 'ann';
const gates = ['a.test', 'b.test', 'c.test'];
const gateConcurrency = 16;
const stepMs = 3;
/** One in this many fetches is refused for a moment, so that items also wait for a time. */
const busyPart = 20;

export interface ControlScene {
  readonly engines: readonly Engine[];
  readonly errors: readonly string[];
  submit(items: number): Promise<string>;
  /** Resolves when this many items of the job are done. */
  untilDone(key: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A third of the items has no gate; the others wait at one of three. */
export async function openControlScene(databases: readonly Database[]): Promise<ControlScene> {
  const errors: string[] = [];
  const [first] = databases;
  if (!first) throw new Error('a scene needs a store');
  await first.write(async (transaction) => {
    for (const name of gates) {
      const gate = { name, concurrency: gateConcurrency, intervalMs: 0 };
      await setGateLimits(transaction, gate, first.now());
    }
  });
  const engines = databases.map(
    (database) =>
      new Engine({
        ...{ database, pipeline: pipeline(), world: realWorld(), liveness: thisProcess() },
        onError: (what, error) => errors.push(`${what}: ${toFailure(error).message}`),
      }),
  );
  for (const engine of engines) await engine.start();
  return {
    engines,
    errors,
    async submit(items) {
      const sources = Array.from({ length: items }, (_, index) => ({
        kind: 'url' as const,
        source: `http://site.test/${index}`,
        gate: gates[index % (gates.length + 2)],
      }));
      for (;;) {
        try {
          const input = { caller, corpus: 'pages', sources };
          return (await engines[0]?.commands.submit(input))?.jobKey ?? '';
        } catch (error) {
          // On a busy machine the server may end a transaction that is prepared too slowly.
          if (toFailure(error).code !== 'store_busy') throw error;
        }
      }
    },
    async untilDone(key, count) {
      while (((await getJob(first, key))?.items_done ?? 0) < count) await pause(stepMs);
    },
    async stop() {
      for (const engine of engines) await engine.stop();
    },
  };
}

function pipeline(): Pipeline {
  let fetches = 0;
  const nothing: StepFunction = async () => ({});
  const fetched: StepFunction = async () => {
    await pause(stepMs);
    if (++fetches % busyPart === 0) throw new Failure('rate_limited', 'busy', { retryAfterMs: 50 });
    return {};
  };
  const done: StepFunction = async () => ({ counts: { documents: 1 }, tokensIn: 1 });
  const given: Readonly<Record<string, StepFunction>> = { fetched, done };
  const steps = item.steps.map(({ step }) => [step, given[step] ?? nothing] as const);
  return { lifecycle: item, steps: Object.fromEntries(steps), timeoutMs: () => 60_000 };
}

const deadlocks = sql<{ count: number }>`
  SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()`;

/** The number of deadlocks resolved in this database; 0 on an embedded store. */
export async function countDeadlocks(database: Database): Promise<number> {
  if (database.dialect.name !== 'postgres') return 0;
  return (await database.run(deadlocks))[0]?.count ?? 0;
}

interface Census {
  readonly step: string;
  readonly waits_on: string | null;
  readonly count: number;
}

const census = sql<Census>`
  SELECT step, waits_on, COUNT(*) AS count FROM items WHERE job_id = :job_id GROUP BY 1, 2`;
const queued = sql<{ count: number }>`
  SELECT (SELECT COUNT(*) FROM turns) + (SELECT COUNT(*) FROM timers)
    + (SELECT COUNT(*) FROM lines) AS count`;

export interface Settled {
  readonly row: JobRow;
  readonly ended: Readonly<Record<string, number>>;
  /** What open items wait on. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly queued: number;
  readonly withoutCause: number;
}

/** Waits until no item of a stopped job is left to move, and returns where its items are. */
export async function settled(database: Database, key: string): Promise<Settled> {
  for (;;) {
    const row = await getJob(database, key);
    if (!row) throw new Error(`job ${key} is not there`);
    if (row.sweep !== null) {
      await pause(stepMs);
      continue;
    }
    const rows = await database.run(census, { job_id: row.id });
    const ended: Record<string, number> = {};
    const waiting: Record<string, number> = {};
    for (const { step, waits_on, count } of rows) {
      if (waits_on === null) ended[step] = (ended[step] ?? 0) + count;
      else waiting[waits_on] = (waiting[waits_on] ?? 0) + count;
    }
    const [queue] = await database.run(queued);
    const withoutCause = await countWithoutCause(database);
    return { row, ended, waiting, queued: queue?.count ?? 0, withoutCause };
  }
}
