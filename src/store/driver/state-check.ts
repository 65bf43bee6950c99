/**
 * The `CHECK`s that the kernel's tables give. A migration writes a `CHECK` once; a state that is
 * added to a table later must also be accepted by stores that were made before. So each start
 * compares every such `CHECK` with its table, and replaces those that differ.
 */
import { batchTask } from '../../kernel/lifecycle/batch-task.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { waits } from '../../kernel/lifecycle/item-wait.ts';
import { job, sweeps } from '../../kernel/lifecycle/job.ts';
import { sqlCheck } from '../../kernel/lifecycle/machine.ts';
import { syncRun } from '../../kernel/lifecycle/sync-run.ts';
import { syncSource } from '../../kernel/lifecycle/sync-source.ts';
import type { Transaction } from './database.ts';
import { sql } from './statement.ts';

export interface StateCheck {
  readonly table: string;
  readonly column: string;
  readonly states: readonly string[];
}

export function stateChecks({ machine }: Lifecycle): StateCheck[] {
  return [
    { table: 'items', column: 'step', states: machine.states },
    { table: 'items', column: 'waits_on', states: waits },
    { table: 'jobs', column: 'state', states: job.states },
    { table: 'jobs', column: 'sweep', states: sweeps },
    { table: 'batch_tasks', column: 'state', states: batchTask.states },
    { table: 'sync_sources', column: 'state', states: syncSource.states },
    { table: 'sync_runs', column: 'state', states: syncRun.states },
  ];
}

export async function refreshChecks(
  transaction: Transaction,
  checks: readonly StateCheck[],
): Promise<void> {
  const refresh = transaction.dialect.name === 'postgres' ? refreshOnPostgres : refreshOnSqlite;
  for (const check of checks) await refresh(transaction, check);
}

const constraintOf = sql<{ definition: string }>`
  SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE conrelid = to_regclass(:table) AND conname = :name`;

async function refreshOnPostgres(transaction: Transaction, check: StateCheck): Promise<void> {
  const { table, column } = check;
  const name = `${table}_${column}_check`;
  const [found] = await transaction.run(constraintOf, { table, name });
  if (hasStates(found?.definition, check)) return;
  const drop = `DROP CONSTRAINT IF EXISTS ${name}`;
  const add = `ADD CONSTRAINT ${name} ${sqlCheck(check, column)}`;
  await transaction.run({ text: `ALTER TABLE ${table} ${drop}, ${add}` });
}

const tableOf = sql<{ sql: string }>`
  SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :table`;

/** SQLite cannot alter a CHECK. To rewrite its text is the documented way that needs no copy. */
async function refreshOnSqlite(transaction: Transaction, check: StateCheck): Promise<void> {
  const { table, column } = check;
  const [found] = await transaction.run(tableOf, { table });
  const stored = new RegExp(`CHECK \\(${column} IN \\([^)]*\\)\\)`).exec(found?.sql ?? '')?.[0];
  if (!found || stored === undefined) throw new Error(`${table}.${column} has no CHECK`);
  if (hasStates(stored, check)) return;
  const text = found.sql.replace(stored, sqlCheck(check, column));
  await transaction.run(sql`PRAGMA writable_schema = ON`);
  await transaction.run(
    sql`UPDATE sqlite_schema SET sql = :text WHERE type = 'table' AND name = :table`,
    { text, table },
  );
  await transaction.run(sql`PRAGMA writable_schema = RESET`);
}

/** The states are the only quoted words; each database writes what is around them differently. */
function hasStates(definition: string | undefined, { states }: StateCheck): boolean {
  const stored = [...(definition ?? '').matchAll(/'(\w+)'/g)].map(([, state = '']) => state);
  return stored.length === states.length && states.every((state) => stored.includes(state));
}
