/**
 * The fence of a job: who moves items holds it shared, who changes the state of a job takes it
 * alone. So a command waits for the reports that are being committed, and every later one sees the
 * new state and is refused. It is a lock of the transaction on Postgres; SQLite has one writer.
 *
 * All transactions lock in this order (docs/decisions/0068):
 *
 *   1. rows of `turns`, `timers` and `lines`: locked ones are skipped, nobody waits for them
 *   2. fences, by ascending job id
 *   3. items; a sweep skips locked ones. An item in line at a gate is never held while a gate is
 *      waited for: who admits at that gate may be waiting for the item
 *   4. what steps write: documents, chunks, crawls, shares
 *   5. gates, by name
 *   6. jobs, by ascending id. Who holds the fence alone may lock the job right after it
 *   7. the row that numbers the events
 */
import { type Sweep, workingStates } from '../../kernel/lifecycle/job.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';

const states = workingStates.map((state) => `'${state}'`).join(', ');

/** For an item: its job is neither stopped nor ended. True until the commit under its fence. */
export const isWorkedOn = `
  (SELECT jobs.state FROM jobs WHERE jobs.id = items.job_id) IN (${states})`;

/**
 * Which items a sweep moves, in parts. Those in line at a gate are a part of their own: in the same
 * transaction no place at a gate is given away.
 */
export const sweptItems: Readonly<Record<Sweep, readonly string[]>> = {
  cancel: ["waits_on = 'gate'", "waits_on <> 'gate'"],
  pause: ["waits_on = 'gate'", "waits_on IN ('turn', 'worker', 'time')"],
  resume: ["waits_on = 'person'"],
};

const lockClass = 7302;
const keyOf = (id: string): string => `${lockClass}, (${id} % 2147483647)::int`;

const holdRow = sqlRows({ id: 'int' })`
  SELECT pg_advisory_xact_lock_shared(${keyOf(':id')}) {rows}`;
const holdOfItems = sql`
  SELECT pg_advisory_xact_lock_shared(${keyOf('job_id')}) FROM (
    SELECT DISTINCT job_id FROM items WHERE id {amongIds} ORDER BY job_id) AS held`;
const takeRow = sqlRows({ id: 'int' })`SELECT pg_advisory_xact_lock(${keyOf(':id')}) {rows}`;

/** Until the commit nobody changes the state of these jobs by a command. */
export async function holdFences(
  transaction: Transaction,
  jobIds: Iterable<number>,
): Promise<void> {
  if (transaction.dialect.name === 'postgres') {
    await transaction.eachLater(holdRow, inOrder(jobIds));
  }
}

/** The same for the jobs of these items. */
export async function holdFencesOfItems(transaction: Transaction, ids: string): Promise<void> {
  if (transaction.dialect.name === 'postgres') await transaction.run(holdOfItems, { ids });
}

/** Until the commit nobody else moves items of these jobs, except that they may be claimed. */
export async function takeFences(
  transaction: Transaction,
  jobIds: Iterable<number>,
): Promise<void> {
  if (transaction.dialect.name === 'postgres') await transaction.each(takeRow, inOrder(jobIds));
}

const lockGateRows = sql`SELECT name FROM gates WHERE name {amongKeys} ORDER BY name {forUpdate}`;

/** For who is going to lock items that stand in line at these gates. */
export async function lockGates(transaction: Transaction, names: Iterable<string>): Promise<void> {
  const keys = [...new Set(names)];
  if (keys.length > 0) await transaction.run(lockGateRows, { keys: JSON.stringify(keys) });
}

function inOrder(jobIds: Iterable<number>): { id: number }[] {
  return [...new Set(jobIds)].sort((a, b) => a - b).map((id) => ({ id }));
}
