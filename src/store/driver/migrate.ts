/**
 * Brings the schema up to date: numbered migrations, each in one transaction with the record that
 * it ran. Then every `CHECK` that a table of the kernel gives is compared with the table. A store
 * that a newer Pawl has migrated is refused.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { sqlCheck } from '../../kernel/lifecycle/machine.ts';
import { initial } from '../migration/0001-0009/0001-initial.ts';
import { fetching } from '../migration/0001-0009/0002-fetch.ts';
import { crawling } from '../migration/0001-0009/0003-crawl.ts';
import { paying } from '../migration/0001-0009/0005-money.ts';
import { naming } from '../migration/0001-0009/0006-entities.ts';
import { fetchedBytes } from '../migration/0001-0009/0008-fetched-bytes.ts';
import { service } from '../migration/0001-0009/0009-service.ts';
import { batching } from '../migration/0010-0019/0010-batch.ts';
import { webhooks } from '../migration/0010-0019/0012-webhooks.ts';
import { completions } from '../migration/0010-0019/0013-completions.ts';
import { handoffs } from '../migration/0010-0019/0014-handoffs.ts';
import { sinks } from '../migration/0010-0019/0015-sinks.ts';
import { wallClock } from '../migration/0010-0019/0016-wall-clock.ts';
import { openTasks } from '../migration/0010-0019/0017-open-tasks.ts';
import { deaths } from '../migration/0010-0019/0018-deaths.ts';
import { openJobs } from '../migration/0020-0029/0020-open-jobs.ts';
import { smallBytes } from '../migration/0020-0029/0021-small-bytes.ts';
import { words } from '../migration/0020-0029/0022-words.ts';
import { keysAndLetters } from '../migration/0020-0029/0023-keys-and-letters.ts';
import { callers } from '../migration/0020-0029/0024-callers.ts';
import { origins } from '../migration/0020-0029/0025-origins.ts';
import { suspects } from '../migration/0020-0029/0026-suspects.ts';
import { jobSweeps } from '../migration/0020-0029/0027-sweeps.ts';
import { batchServing } from '../migration/0020-0029/0028-batch-serving.ts';
import { pages } from '../migration/0020-0029/0029-pages.ts';
import { keptShare } from '../migration/0030-0039/0030-kept-share.ts';
import { attachments } from '../migration/0030-0039/0031-attachments.ts';
import { workClock } from '../migration/0030-0039/0032-work-clock.ts';
import { benches } from '../migration/0030-0039/0033-benches.ts';
import { callersOfJobs } from '../migration/0030-0039/0034-callers-of-jobs.ts';
import { serviceQueue } from '../migration/0030-0039/0035-service-queue.ts';
import { wordAnalysis } from '../migration/0030-0039/0039-word-analysis.ts';
import { metadata } from '../migration/0040-0049/0041-metadata.ts';
import { syncSources } from '../migration/0040-0049/0043-sync-sources.ts';
import { chunking } from '../migration/0040-0049/0048-chunking.ts';
import { eventsOfAnItem } from '../migration/0040-0049/0049-events-of-an-item.ts';
import { syncContents } from '../migration/0050-0059/0053-sync-contents.ts';
import { packing } from '../migration/0050-0059/0054-packing.ts';
import { sourceSignals } from '../migration/0050-0059/0057-source-signals.ts';
import { roomForMoves } from '../migration/0050-0059/0058-room-for-moves.ts';
import type { Database, Transaction } from './database.ts';
import { refreshChecks, type StateCheck, stateChecks } from './state-check.ts';
import { sql } from './statement.ts';

export interface Migration {
  readonly version: number;
  readonly name: string;
  statements(lifecycle: Lifecycle): readonly string[];
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
}

export const migrations: readonly Migration[] = [
  initial,
  fetching,
  crawling,
  paying,
  naming,
  fetchedBytes,
  service,
  batching,
  webhooks,
  completions,
  handoffs,
  sinks,
  wallClock,
  openTasks,
  deaths,
  openJobs,
  smallBytes,
  words,
  keysAndLetters,
  callers,
  origins,
  suspects,
  jobSweeps,
  batchServing,
  pages,
  keptShare,
  attachments,
  workClock,
  benches,
  callersOfJobs,
  serviceQueue,
  wordAnalysis,
  metadata,
  syncSources,
  chunking,
  eventsOfAnItem,
  syncContents,
  packing,
  sourceSignals,
  roomForMoves,
];

const createMigrations = sql`CREATE TABLE IF NOT EXISTS migrations (
  version {int} PRIMARY KEY, name TEXT NOT NULL, item_check TEXT NOT NULL)`;
const listMigrations = sql<{ version: number }>`SELECT version FROM migrations ORDER BY version`;
const recordMigration = sql`
  INSERT INTO migrations (version, name, item_check) VALUES (:version, :name, :item_check)`;
const recordCheck = sql`
  UPDATE migrations SET item_check = :item_check WHERE item_check <> :item_check`;

export async function migrate(
  database: Database,
  lifecycle: Lifecycle,
  checks: readonly StateCheck[] = stateChecks(lifecycle),
): Promise<void> {
  const check = sqlCheck(lifecycle.machine, 'step');
  await database.write(async (transaction) => {
    await lockSchema(transaction);
    await transaction.run(createMigrations);
    const applied = await transaction.run(listMigrations);
    refuseNewer(applied.at(-1)?.version ?? 0);
    const known = new Set(applied.map(({ version }) => version));
    for (const migration of migrations.filter(({ version }) => !known.has(version))) {
      await apply(transaction, migration, lifecycle);
      const { version, name } = migration;
      await transaction.run(recordMigration, { version, name, item_check: check });
    }
    // Versions before this one compare the text that is recorded here.
    await transaction.run(recordCheck, { item_check: check });
    await refreshChecks(transaction, checks);
  });
}

/** Two processes may open a new store at the same time; the second waits, and has nothing to do. */
async function lockSchema(transaction: Transaction): Promise<void> {
  if (transaction.dialect.name === 'postgres') {
    await transaction.run(sql`SELECT pg_advisory_xact_lock(7300)`);
  }
}

function refuseNewer(version: number): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (version <= newest) return;
  throw new Failure(
    'schema_too_new',
    `the store has schema ${version}, and this Pawl knows up to ${newest}: upgrade Pawl`,
  );
}

async function apply(
  transaction: Transaction,
  migration: Migration,
  lifecycle: Lifecycle,
): Promise<void> {
  const own = migration[transaction.dialect.name];
  for (const text of [...migration.statements(lifecycle), ...own]) {
    await transaction.run({ text });
  }
}
