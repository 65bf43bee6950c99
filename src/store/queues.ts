/**
 * Where open items stand: in `turns` by rank, in `timers` by time, in `lines` behind their gate;
 * and in `claims`, which says which worker took which items. They say nothing that the items do not
 * say (`waits_on`, `worker`), and are written in the same transactions. They exist because an index
 * on a column that every claim changes would make every claim rewrite all indexes of the item.
 */
import type { WaitsOn } from '../kernel/waits.ts';
import type { Reader, Transaction } from './database.ts';
import { type Statement, sql, sqlRows } from './statement.ts';

export interface Standing {
  readonly id: number;
  readonly rank: number;
  readonly gate: string | null;
  readonly waitsOn: WaitsOn | null;
  readonly dueAt: number | null;
}

const insertTurn = sqlRows({ rank: 'int', id: 'int' })`
  INSERT INTO turns (rank, item_id) SELECT :rank, :id {rows}`;
const insertTimer = sqlRows({ due_at: 'int', id: 'int' })`
  INSERT INTO timers (due_at, item_id) SELECT :due_at, :id {rows}`;
const insertLine = sqlRows({ gate: 'text', rank: 'int', id: 'int' })`
  INSERT INTO lines (gate, rank, item_id) SELECT :gate, :rank, :id {rows}`;

/** Items take their places in the queue that they wait in, if they wait in one. */
export async function stand(transaction: Transaction, items: readonly Standing[]): Promise<void> {
  const turns: { rank: number; id: number }[] = [];
  const timers: { due_at: number | null; id: number }[] = [];
  const lines: { gate: string | null; rank: number; id: number }[] = [];
  for (const { id, rank, gate, waitsOn, dueAt } of items) {
    if (waitsOn === 'turn') turns.push({ rank, id });
    else if (waitsOn === 'time') timers.push({ due_at: dueAt, id });
    else if (waitsOn === 'gate') lines.push({ gate, rank, id });
  }
  if (turns.length > 0) await transaction.each(insertTurn, turns);
  if (timers.length > 0) await transaction.each(insertTimer, timers);
  if (lines.length > 0) await transaction.each(insertLine, lines);
}

/** The hottest statement, in each database's own best words. */
type Pop = Readonly<Record<'sqlite' | 'postgres', Statement<{ item_id: number; rank: number }>>>;

function popFrom(table: string, key: string, where: string): Pop {
  const picked = `FROM ${table} WHERE ${where} ORDER BY ${key} LIMIT :limit`;
  const returned = `RETURNING ${table === 'timers' ? 'item_id, 0 AS rank' : 'item_id, rank'}`;
  return {
    sqlite: sql`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} ${picked}) ${returned}`,
    // By physical place: what another transaction has picked is skipped, not waited for.
    postgres: sql`DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid ${picked} FOR UPDATE SKIP LOCKED)) ${returned}`,
  };
}

const turnsPop = popFrom('turns', 'rank, item_id', 'TRUE');
const timersPop = popFrom('timers', 'due_at, item_id', 'due_at <= :now');
const linesPop = popFrom('lines', 'gate, rank, item_id', 'gate = :gate');

export async function popTurns(transaction: Transaction, limit: number): Promise<number[]> {
  const rows = await transaction.run(turnsPop[transaction.dialect.name], { limit });
  return rows.map(({ item_id }) => item_id);
}

export async function popTimers(
  transaction: Transaction,
  now: number,
  limit: number,
): Promise<number[]> {
  const rows = await transaction.run(timersPop[transaction.dialect.name], { now, limit });
  return rows.map(({ item_id }) => item_id);
}

/** The first in line at a gate, in their order. */
export async function popLine(
  transaction: Transaction,
  gate: string,
  limit: number,
): Promise<{ id: number; rank: number }[]> {
  const rows = await transaction.run(linesPop[transaction.dialect.name], { gate, limit });
  return rows
    .map(({ item_id, rank }) => ({ id: item_id, rank }))
    .sort((a, b) => a.rank - b.rank || a.id - b.id);
}

const leaveTurn = sqlRows({ id: 'int', rank: 'int' })`
  DELETE FROM turns {rows} WHERE turns.rank = :rank AND turns.item_id = :id`;

export async function leaveTurns(
  transaction: Transaction,
  items: readonly { id: number; rank: number }[],
): Promise<void> {
  await transaction.each(
    leaveTurn,
    items.map(({ id, rank }) => ({ id, rank })),
  );
}

function leaveStatements(where: string) {
  const of = `FROM items WHERE ${where} AND waits_on`;
  return [
    sql`DELETE FROM turns WHERE (rank, item_id) IN (SELECT rank, id ${of} = 'turn')`,
    sql`DELETE FROM timers WHERE (due_at, item_id) IN (SELECT due_at, id ${of} = 'time')`,
    sql`DELETE FROM lines WHERE (gate, rank, item_id) IN (SELECT gate, rank, id ${of} = 'gate')`,
  ];
}

const leaveOfJob = leaveStatements('job_id = :job_id');
const leaveOfDocument = leaveStatements('document_id = :document_id');
const leaveOfItems = leaveStatements('id {amongIds}');

/** All items of a job leave the queues they stand in. To be called before they change. */
export async function leaveQueues(transaction: Transaction, jobId: number): Promise<void> {
  for (const statement of leaveOfJob) await transaction.run(statement, { job_id: jobId });
}

/** The same for the items of a document. */
export async function leaveQueuesOfDocument(
  transaction: Transaction,
  documentId: string,
): Promise<void> {
  for (const statement of leaveOfDocument) {
    await transaction.run(statement, { document_id: documentId });
  }
}

/** The same for some items. */
export async function leaveQueuesOfItems(transaction: Transaction, ids: string): Promise<void> {
  for (const statement of leaveOfItems) await transaction.run(statement, { ids });
}

const insertClaim = sql`INSERT INTO claims (worker, items) VALUES (:worker, :ids)`;
const claimsOf = sql<{ id: number; items: string }>`
  SELECT id, items FROM claims WHERE worker = :worker ORDER BY id`;
const deleteClaim = sqlRows({ id: 'int' })`DELETE FROM claims {rows} WHERE claims.id = :id`;
const deleteClaimsOf = sql`DELETE FROM claims WHERE worker = :worker`;

/**
 * Writes down who took these items: one row a batch, and the way to find a dead worker's leases.
 */
export async function recordClaim(
  transaction: Transaction,
  worker: string,
  ids: string,
): Promise<void> {
  await transaction.run(insertClaim, { worker, ids });
}

export async function listClaims(
  reader: Reader,
  worker: string,
): Promise<{ id: number; itemIds: number[] }[]> {
  const rows = await reader.run(claimsOf, { worker });
  return rows.map(({ id, items }) => ({ id, itemIds: JSON.parse(items) }));
}

/** Every item that the worker took and may still hold. */
export async function claimedItems(reader: Reader, worker: string): Promise<number[]> {
  return (await listClaims(reader, worker)).flatMap(({ itemIds }) => itemIds);
}

export async function forgetClaims(
  transaction: Transaction,
  ids: readonly number[],
): Promise<void> {
  await transaction.each(
    deleteClaim,
    ids.map((id) => ({ id })),
  );
}

export async function forgetClaimsOf(transaction: Transaction, worker: string): Promise<void> {
  await transaction.run(deleteClaimsOf, { worker });
}
