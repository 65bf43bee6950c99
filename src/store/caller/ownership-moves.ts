/**
 * Moves what one caller owns to another. Ownership of corpora changes in the transaction that
 * begins the move, so searches see all of it or nothing; documents stay in their namespace. Jobs,
 * items and spending follow in bounded transactions. An interrupted move continues, and a finished
 * one is checked again for rows that a process with a stale cache has written.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { type CorpusPlace, nameFor, placeOf, renamedFor } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import { setOwner } from '../corpus/access.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  /** Only this corpus; everything if absent. */
  readonly place?: CorpusPlace | undefined;
  /** `from` no longer exists as a caller. */
  readonly isMerge?: boolean | undefined;
  readonly now: number;
}

/** Changes the owner of the corpora and records the move. */
export async function beginMove(transaction: Transaction, move: Move): Promise<void> {
  const { from, to, place, isMerge, now } = move;
  await moveCorpora(transaction, move);
  if (isMerge) await moveShares(transaction, { from, to });
  const { caller: namespace = null, corpus = null } = place ?? {};
  await transaction.run(record, { from, to, now, namespace, corpus });
}

const record = sql`
  INSERT INTO caller_moves (from_caller, to_caller, namespace, corpus, created_at)
  VALUES (:from, :to, :namespace, :corpus, :now)`;

const begun = sql<CorpusPlace>`
  SELECT :from AS caller, corpus FROM (
    SELECT corpus FROM corpus_settings WHERE caller = :from AND model IS NOT NULL
    UNION SELECT corpus FROM jobs WHERE caller = :from AND corpus NOT LIKE '%@%') AS own
  WHERE NOT EXISTS (SELECT 1 FROM corpus_owners
    WHERE corpus_owners.namespace = :from AND corpus_owners.corpus = own.corpus)
  UNION ALL SELECT namespace, corpus FROM corpus_owners WHERE owner = :from`;

/** All corpora of a caller, by place. */
export function listOwned(reader: Reader, caller: string): Promise<CorpusPlace[]> {
  return reader.run(begun, { from: caller });
}

async function moveCorpora(transaction: Transaction, { from, to, place, isMerge }: Move) {
  const owned = await listOwned(transaction, from);
  const isMeant = ({ caller, corpus }: CorpusPlace): boolean =>
    place === undefined || (place.caller === caller && place.corpus === corpus);
  for (const each of owned.filter(isMeant)) {
    await setOwner(transaction, each, to);
    await moveBudget(transaction, each, { from, to });
    // If `from` creates a corpus with this name again, it is another one, in its own namespace.
    if (!isMerge && each.caller === from) await makeRoom(transaction, each);
  }
}

const ownersLike = sql<{ namespace: string }>`
  SELECT namespace FROM corpus_owners WHERE corpus = :corpus`;

async function makeRoom(transaction: Transaction, { caller, corpus }: CorpusPlace): Promise<void> {
  const rows = await transaction.run(ownersLike, { corpus });
  const taken = new Set(rows.map(({ namespace }) => namespace));
  // No caller id contains this character, so the namespace cannot belong to another caller.
  let n = 2;
  while (taken.has(`${caller}·${n}`)) n += 1;
  await setOwner(transaction, { caller: `${caller}·${n}`, corpus }, caller);
}

const budgetOf = sql<{ budget_cents: number | null }>`
  SELECT budget_cents FROM corpus_settings WHERE caller = :caller AND corpus = :corpus`;
const putBudget = sql`
  INSERT INTO corpus_settings (caller, corpus, budget_cents) VALUES (:caller, :corpus, :cents)
  ON CONFLICT (caller, corpus) DO UPDATE SET budget_cents = excluded.budget_cents`;

/** The budget of a corpus is a limit of its caller, stored under the caller's name for it. */
async function moveBudget(
  transaction: Transaction,
  place: CorpusPlace,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const old = { caller: from, corpus: renamedFor(from, place) };
  const [row] = await transaction.run(budgetOf, old);
  if (row?.budget_cents == null) return;
  await transaction.run(putBudget, { ...old, cents: null });
  const name = { caller: to, corpus: renamedFor(to, place) };
  await transaction.run(putBudget, { ...name, cents: row.budget_cents });
}

const widenShares = sql`
  UPDATE corpus_shares SET access = 'write' WHERE caller = :to AND EXISTS (
    SELECT 1 FROM corpus_shares AS old WHERE old.caller = :from AND old.access = 'write'
      AND old.namespace = corpus_shares.namespace AND old.corpus = corpus_shares.corpus)`;
const copyShares = sql`
  INSERT INTO corpus_shares (namespace, corpus, caller, access, created_at)
  SELECT namespace, corpus, :to, access, created_at FROM corpus_shares WHERE caller = :from
  ON CONFLICT (namespace, corpus, caller) DO NOTHING`;
const dropShares = sql`DELETE FROM corpus_shares WHERE caller = :from`;
const dropOwnShares = sql`
  DELETE FROM corpus_shares WHERE caller = :to AND COALESCE((
    SELECT owner FROM corpus_owners WHERE corpus_owners.namespace = corpus_shares.namespace
      AND corpus_owners.corpus = corpus_shares.corpus), namespace) = :to`;

/** Shares move along; a corpus is not shared with its own owner. */
async function moveShares(transaction: Transaction, pair: { from: string; to: string }) {
  await transaction.run(widenShares, pair);
  await transaction.run(copyShares, pair);
  await transaction.run(dropShares, { from: pair.from });
  await transaction.run(dropOwnShares, { to: pair.to });
}

export interface MoveRow {
  readonly id: number;
  readonly from_caller: string;
  readonly to_caller: string;
  readonly namespace: string | null;
  readonly corpus: string | null;
  readonly created_at: number;
}

const open = sql<MoveRow>`SELECT * FROM caller_moves WHERE ended_at IS NULL ORDER BY id LIMIT 100`;

export function listOpenMoves(reader: Reader): Promise<MoveRow[]> {
  return reader.run(open);
}

export const endMove = write<{ id: number; now: number }>`
  UPDATE caller_moves SET ended_at = :now WHERE id = :id`;

/** Merged callers under whose id something was written since. */
const stragglers = sql<{ from_caller: string; to_caller: string }>`
  SELECT id AS from_caller, merged_into AS to_caller FROM callers
  WHERE merged_into IS NOT NULL AND (
    EXISTS (SELECT 1 FROM jobs WHERE jobs.caller = callers.id)
    OR EXISTS (SELECT 1 FROM batch_tasks WHERE batch_tasks.caller = callers.id))`;

export function listStragglers(reader: Reader) {
  return reader.run(stragglers);
}

type Part = Pick<MoveRow, 'from_caller' | 'to_caller' | 'namespace' | 'corpus'>;

const jobsOf = sql<{ id: number; corpus: string }>`
  SELECT id, corpus FROM jobs WHERE caller = :from AND corpus = COALESCE(:name, corpus)
  ORDER BY id LIMIT :limit`;
const itemsOf = sql<{ id: number; job_id: number }>`
  SELECT id, job_id FROM items WHERE job_id {amongIds} AND caller = :from ORDER BY id LIMIT :limit`;
const moveItem = sqlRows({ id: 'int', corpus: 'text' })`
  UPDATE items SET caller = :to, corpus = :corpus {rows} WHERE items.id = :id`;
const moveJob = sqlRows({ id: 'int', corpus: 'text' })`
  UPDATE jobs SET caller = :to, corpus = :corpus {rows} WHERE jobs.id = :id`;

/** Moves some jobs with their items, items first. Returns the number of rows written. */
export async function moveSomeJobs(
  transaction: Transaction,
  part: Part,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<number> {
  const { from_caller: from, to_caller: to } = part;
  const jobs = await transaction.run(jobsOf, { from, name: nameOf(part) ?? null, limit });
  if (jobs.length === 0) return 0;
  const names = new Map(
    jobs.map(({ id, corpus }) => [id, renamedFor(to, { caller: from, corpus })]),
  );
  const ids = JSON.stringify([...names.keys()]);
  const items = await transaction.run(itemsOf, { ids, from, limit });
  const nameOfJob = (id: number): string => names.get(id) as string;
  await transaction.each(
    moveItem,
    items.map(({ id, job_id }) => ({ id, corpus: nameOfJob(job_id) })),
    { to },
  );
  // These jobs have more items than fit in one transaction: the others follow in the next.
  if (items.length === limit) return items.length;
  await transaction.each(
    moveJob,
    jobs.map(({ id }) => ({ id, corpus: nameOfJob(id) })),
    { to },
  );
  const events: NewEvent[] = jobs.map(({ id }) => ({
    kind: 'job_moved',
    jobId: id,
    detail: { from, to, corpus: nameOfJob(id) },
  }));
  await appendEvents(transaction, events, now);
  return items.length + jobs.length;
}

function nameOf({ from_caller: caller, namespace, corpus }: Part): string | undefined {
  if (namespace === null || corpus === null) return undefined;
  return renamedFor(caller, { caller: namespace, corpus });
}

const lateItems = sql<{ id: number; corpus: string }>`
  SELECT items.id, jobs.corpus FROM jobs JOIN items ON items.job_id = jobs.id
  WHERE jobs.caller = :to AND items.caller = :from
    AND (jobs.ended_at IS NULL OR jobs.ended_at >= :since)
  ORDER BY items.id LIMIT :limit`;

/** Moves items that a job added during the move. */
export async function moveLateItems(
  transaction: Transaction,
  { from_caller: from, to_caller: to, created_at: since }: Part & Pick<MoveRow, 'created_at'>,
  limit: number,
): Promise<number> {
  const rows = await transaction.run(lateItems, { from, to, since, limit });
  await transaction.each(moveItem, rows, { to });
  return rows.length;
}

const sourcesOf = sql<SourcePart>`
  SELECT id, name, place_caller, place_corpus FROM sync_sources WHERE caller = :from
    AND place_caller = COALESCE(:namespace, place_caller)
    AND place_corpus = COALESCE(:corpus, place_corpus)
  ORDER BY id LIMIT :limit`;
const takenNames = sql<{ name: string }>`SELECT name FROM sync_sources WHERE caller = :to`;
const moveSource = sql`
  UPDATE sync_sources SET caller = :to, name = :name, corpus = :corpus WHERE id = :id`;

interface SourcePart {
  readonly id: number;
  readonly name: string;
  readonly place_caller: string;
  readonly place_corpus: string;
}

/** Moves sources along with their corpora. A name that is taken gets a number. */
export async function moveSomeSources(
  transaction: Transaction,
  { from_caller: from, to_caller: to, namespace, corpus }: Part,
  limit: number,
): Promise<number> {
  const rows = await transaction.run(sourcesOf, { from, namespace, corpus, limit });
  if (rows.length === 0) return 0;
  const taken = new Set((await transaction.run(takenNames, { to })).map(({ name }) => name));
  for (const { id, name: before, place_caller, place_corpus } of rows) {
    const name = freeName(before, taken);
    taken.add(name);
    const renamed = nameFor(to, { caller: place_caller, corpus: place_corpus });
    await transaction.run(moveSource, { id, to, name, corpus: renamed });
  }
  return rows.length;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const { nameCharactersMax } = limits.sync;
  for (let n = 1, free = name; ; n += 1) {
    if (!taken.has(free)) return free;
    const end = `-${n + 1}`;
    free = `${name.slice(0, nameCharactersMax - end.length)}${end}`;
  }
}

const amounts = [
  ...['tokens_in', 'tokens_out', 'tokens_unpriced', 'tokens_saved', 'cost_cents', 'saved_cents'],
];
const spentOf = sql<{ corpus: string; day: string }>`
  SELECT corpus, day FROM spending WHERE caller = :from AND corpus = COALESCE(:name, corpus)
  ORDER BY day, corpus LIMIT :limit`;
const addSpent = sql`
  INSERT INTO spending (caller, corpus, day, ${amounts.join(', ')})
  SELECT :to, :renamed, day, ${amounts.join(', ')} FROM spending
  WHERE caller = :from AND corpus = :corpus AND day = :day
  ON CONFLICT (caller, corpus, day) DO UPDATE SET
    ${amounts.map((name) => `${name} = spending.${name} + excluded.${name}`).join(', ')}`;
const dropSpent = sql`
  DELETE FROM spending WHERE caller = :from AND corpus = :corpus AND day = :day`;

/** Moves spending along with its corpus. Returns the number of rows moved. */
export async function moveSomeSpending(
  transaction: Transaction,
  part: Part,
  limit: number,
): Promise<number> {
  const { from_caller: from, to_caller: to } = part;
  const rows = await transaction.run(spentOf, { from, name: nameOf(part) ?? null, limit });
  for (const { corpus, day } of rows) {
    const renamed = renamedFor(to, placeOf({ caller: from, corpus }));
    await transaction.run(addSpent, { from, to, corpus, renamed, day });
    await transaction.run(dropSpent, { from, corpus, day });
  }
  return rows.length;
}

const moveKeys = sql<{ key: string }>`
  UPDATE idempotency SET caller = :to WHERE caller = :from AND key IN (
    SELECT key FROM idempotency AS own WHERE own.caller = :from AND NOT EXISTS (
      SELECT 1 FROM idempotency AS other WHERE other.caller = :to AND other.key = own.key)
    LIMIT :limit) RETURNING key`;
const moveTasks = sql<{ id: number }>`
  UPDATE batch_tasks SET caller = :to WHERE id IN (
    SELECT id FROM batch_tasks WHERE caller = :from LIMIT :limit) RETURNING id`;
const moveLines = sql<{ id: number }>`
  UPDATE batch_lines SET caller = :to WHERE id IN (
    SELECT id FROM batch_lines WHERE caller = :from LIMIT :limit) RETURNING id`;
const dropReserved = sql`DELETE FROM reservations WHERE caller = :from`;

/**
 * Moves rows without a corpus: idempotency keys, batch tasks and their waiting lines. A key that
 * both callers used stays with each. Money reserved under the old name is reserved again when
 * needed.
 */
export async function moveSomeOthers(
  transaction: Transaction,
  { from_caller: from, to_caller: to }: Part,
  limit: number,
): Promise<number> {
  let moved = 0;
  for (const statement of [moveKeys, moveTasks, moveLines]) {
    const rows: readonly unknown[] = await transaction.run<unknown>(statement, { from, to, limit });
    moved += rows.length;
  }
  await transaction.run(dropReserved, { from });
  return moved;
}
