/**
 * The fence of a job. A transaction that moves items holds it shared; one that changes the state of
 * the job takes it exclusively. So a command waits for the reports that are being committed, and
 * every later report sees the new state and is refused. On Postgres it is an advisory lock of the
 * transaction; SQLite has one writer.
 *
 * All transactions lock in this order (docs/decisions/0068):
 *
 *   1. rows of `turns`, `timers` and `lines`: locked rows are skipped, no transaction waits
 *   2. fences, by ascending job id
 *   3. items; a sweep skips locked ones. A transaction that waits for a gate holds no item in line
 *      at a gate: the transaction that admits at that gate may be waiting for the item
 *   4. what steps write: documents, chunks, crawls, shares
 *   5. gates, by name
 *   6. jobs, by ascending id. With the exclusive fence, the job may be locked right after it
 *   7. the row that numbers the events
 */
import { type ItemPlace, itemMoves, place } from '../../kernel/lifecycle/item-wait.ts';
import { type Sweep, workingStates } from '../../kernel/lifecycle/job.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { atPlaces } from './at-places.ts';

/** For an item: its job is neither stopped nor ended. True until the commit under its fence. */
export const isWorkedOn = `
  (SELECT jobs.state FROM jobs WHERE jobs.id = items.job_id) IN (${sqlList(workingStates)})`;

/**
 * Which items a sweep moves, in parts: those at the places that its move starts from. Items in line
 * at a gate are a part of their own: no transaction that moves them also admits at a gate.
 */
export const sweptItems: Readonly<Record<Sweep, readonly string[]>> = {
  cancel: partsOf(itemMoves.cancel.from),
  pause: partsOf(itemMoves.pause.from),
  resume: partsOf(itemMoves.resume.from),
};

function partsOf(places: readonly ItemPlace[]): string[] {
  const atGate = places.filter((each) => each === place.gate);
  const others = places.filter((each) => each !== place.gate);
  return [atGate, others].filter(({ length }) => length > 0).map((part) => atPlaces(part));
}

const lockClass = 7302;
const keyOf = (id: string): string => `${lockClass}, (${id} % 2147483647)::int`;

const holdRow = sqlRows({ id: 'int' })`
  SELECT pg_advisory_xact_lock_shared(${keyOf(':id')}) {rows}`;
const holdOfItems = sql`
  SELECT pg_advisory_xact_lock_shared(${keyOf('job_id')}) FROM (
    SELECT DISTINCT job_id FROM items WHERE id {amongIds} ORDER BY job_id) AS held`;
const takeRow = sqlRows({ id: 'int' })`SELECT pg_advisory_xact_lock(${keyOf(':id')}) {rows}`;

/** Until the commit no command changes the state of these jobs. */
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

/** Until the commit only this transaction moves items of these jobs, except for claims. */
export async function takeFences(
  transaction: Transaction,
  jobIds: Iterable<number>,
): Promise<void> {
  if (transaction.dialect.name === 'postgres') await transaction.each(takeRow, inOrder(jobIds));
}

const lockGateRows = sql`SELECT name FROM gates WHERE name {amongKeys} ORDER BY name {forUpdate}`;

/** To be called before items in line at these gates are locked. */
export async function lockGates(transaction: Transaction, names: Iterable<string>): Promise<void> {
  const keys = [...new Set(names)];
  if (keys.length > 0) await transaction.run(lockGateRows, { keys: JSON.stringify(keys) });
}

function inOrder(jobIds: Iterable<number>): { id: number }[] {
  return [...new Set(jobIds)].sort((a, b) => a - b).map((id) => ({ id }));
}
