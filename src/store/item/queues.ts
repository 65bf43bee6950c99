/**
 * The queues of open items: `turns` by rank, `timers` by time, `lines` behind their gate. Instead
 * of `turns`, an item is in `suspects` if it must run alone, and in `service_queue` if the service
 * of its next step had no free slot. `claims` says which worker took which items.
 *
 * All of it follows from the items (`waits_on`, `worker`) and is written in the same transactions.
 * The tables exist because an index on a column that every claim changes would make every claim
 * rewrite all indexes of the item.
 */

import { place, type WaitsOn } from '../../kernel/lifecycle/item-wait.ts';
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { isSuspect } from '../../kernel/suspicion.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { type Statement, sql, sqlRows } from '../driver/statement.ts';

export interface Standing {
  readonly id: number;
  readonly rank: number;
  readonly gate: string | null;
  readonly waitsOn: WaitsOn | null;
  readonly dueAt: number | null;
  /** Where they are not known, a claim finds out whether the item is a suspect. */
  readonly crashes?: number;
  readonly lone_deaths?: number;
  /** Of a turn: where its place will be; anywhere, where it is not known. */
  readonly service?: StepService | undefined;
}

/** A claim that was rolled back may have left a row behind for an item that has moved meanwhile. */
const once = 'WHERE TRUE ON CONFLICT DO NOTHING';
const insertTurn = sqlRows({ rank: 'int', id: 'int' })`
  INSERT INTO turns (rank, item_id) SELECT :rank, :id {rows} ${once}`;
const insertTimer = sqlRows({ due_at: 'int', id: 'int' })`
  INSERT INTO timers (due_at, item_id) SELECT :due_at, :id {rows} ${once}`;
const insertLine = sqlRows({ gate: 'text', rank: 'int', id: 'int' })`
  INSERT INTO lines (gate, rank, item_id) SELECT :gate, :rank, :id {rows} ${once}`;
const insertSuspect = sqlRows({ lone_deaths: 'int', rank: 'int', id: 'int' })`
  INSERT INTO suspects (lone_deaths, rank, item_id) SELECT :lone_deaths, :rank, :id {rows} ${once}`;

const insertServiceQueued = sqlRows({ service: 'text', rank: 'int', id: 'int' })`
  INSERT INTO service_queue (service, rank, item_id) SELECT :service, :rank, :id {rows} ${once}`;

export interface ServiceQueued {
  readonly service: StepService;
  readonly rank: number;
  readonly id: number;
}

/** Items whose turn it is wait for a place at a service. */
export async function enqueueForServices(
  transaction: Transaction,
  items: readonly ServiceQueued[],
): Promise<void> {
  if (items.length > 0) await transaction.each(insertServiceQueued, items);
}

/** Items take their places in the queue that they wait in, if they wait in one. */
export async function stand(transaction: Transaction, items: readonly Standing[]): Promise<void> {
  const turns: { rank: number; id: number }[] = [];
  const timers: { due_at: number | null; id: number }[] = [];
  const lines: { gate: string | null; rank: number; id: number }[] = [];
  const suspects: { lone_deaths: number; rank: number; id: number }[] = [];
  const queued: ServiceQueued[] = [];
  for (const { id, rank, gate, waitsOn, dueAt, crashes = 0, lone_deaths = 0, service } of items) {
    if (waitsOn === place.turn && isSuspect(crashes)) suspects.push({ lone_deaths, rank, id });
    else if (waitsOn === place.turn && service) queued.push({ service, rank, id });
    else if (waitsOn === place.turn) turns.push({ rank, id });
    else if (waitsOn === place.time) timers.push({ due_at: dueAt, id });
    else if (waitsOn === place.gate) lines.push({ gate, rank, id });
  }
  if (turns.length > 0) await transaction.each(insertTurn, turns);
  if (timers.length > 0) await transaction.each(insertTimer, timers);
  if (lines.length > 0) await transaction.each(insertLine, lines);
  if (suspects.length > 0) await transaction.each(insertSuspect, suspects);
  await enqueueForServices(transaction, queued);
}

const moveSuspects = sql`
  INSERT INTO suspects (lone_deaths, rank, item_id)
  SELECT lone_deaths, rank, id FROM items
  WHERE id {amongIds} AND waits_on = '${place.turn}' AND crashes >= :crashes_min`;

/** Items that were popped from the turns, and must not run beside others. */
export async function enqueueSuspects(transaction: Transaction, ids: string): Promise<void> {
  await transaction.run(moveSuspects, { ids, crashes_min: limits.suspect.crashesMin });
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
const serviceQueuePop = popFrom('service_queue', 'service, rank, item_id', 'service = :service');
const linesPop = popFrom('lines', 'gate, rank, item_id', 'gate = :gate');
const suspectsPop = popFrom(
  'suspects',
  'lone_deaths, rank, item_id',
  'lone_deaths <= :lone_deaths_max',
);

export async function popTurns(transaction: Transaction, limit: number): Promise<number[]> {
  const rows = await transaction.run(turnsPop[transaction.dialect.name], { limit });
  return rows.map(({ item_id }) => item_id);
}

/** The first in the queue of a service. */
export async function popServiceQueue(
  transaction: Transaction,
  service: StepService,
  limit: number,
): Promise<ServiceQueued[]> {
  const page = { service, limit };
  const rows = await transaction.run(serviceQueuePop[transaction.dialect.name], page);
  return rows.map(({ item_id, rank }) => ({ service, rank, id: item_id }));
}

const popAnyServiceQueue = popFrom('service_queue', 'service, rank, item_id', 'TRUE');

/** In a process that does everything itself, nobody need wait for a place elsewhere. */
export async function emptyServiceQueues(transaction: Transaction, limit: number): Promise<void> {
  const rows = await transaction.run(popAnyServiceQueue[transaction.dialect.name], { limit });
  const turns = rows.map(({ item_id, rank }) => ({ id: item_id, rank }));
  if (turns.length > 0) await transaction.each(insertTurn, turns);
}

/** One that was alone at no more than so many deaths; those with the fewest come first. */
export async function popSuspect(
  transaction: Transaction,
  loneDeathsMax: number,
): Promise<number[]> {
  const page = { lone_deaths_max: loneDeathsMax, limit: 1 };
  const rows = await transaction.run(suspectsPop[transaction.dialect.name], page);
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
const leaveSuspect = sqlRows({ id: 'int', rank: 'int', lone_deaths: 'int' })`
  DELETE FROM suspects {rows} WHERE suspects.lone_deaths = :lone_deaths
    AND suspects.rank = :rank AND suspects.item_id = :id`;

export async function leaveTurns(
  transaction: Transaction,
  items: readonly { id: number; rank: number; lone_deaths: number }[],
): Promise<void> {
  await transaction.each(
    leaveTurn,
    items.map(({ id, rank }) => ({ id, rank })),
  );
  await transaction.each(
    leaveSuspect,
    items.map(({ id, rank, lone_deaths }) => ({ id, rank, lone_deaths })),
  );
}

/**
 * A row that is locked belongs to somebody who is about to remove it, and who waits for the item:
 * it is skipped, not waited for.
 */
function leaveStatement(table: string, waitsOn: WaitsOn, key: readonly string[]) {
  const of = `FROM items WHERE id {amongIds} AND waits_on = '${waitsOn}'`;
  const same = [...key.map((name) => `${table}.${name} = items.${name}`), 'item_id = items.id'];
  return {
    sqlite: sql`
      DELETE FROM ${table} WHERE (${[...key, 'item_id'].join(', ')}) IN (
        SELECT ${[...key, 'id'].join(', ')} ${of})`,
    postgres: sql`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ${table}.ctid FROM items JOIN ${table} ON ${same.join(' AND ')}
        WHERE items.id {amongIds} AND items.waits_on = '${waitsOn}'
        FOR UPDATE OF ${table} SKIP LOCKED))`,
  };
}

const leaves = [
  leaveStatement('turns', place.turn, ['rank']),
  // After the turns: a claim moves items from there to here.
  leaveStatement('suspects', place.turn, ['lone_deaths', 'rank']),
  leaveStatement('service_queue', place.turn, []),
  leaveStatement('timers', place.time, ['due_at']),
  leaveStatement('lines', place.gate, ['gate', 'rank']),
];

/** Items that are locked leave the queues they stand in. To be called before they change. */
export async function leaveQueues(transaction: Transaction, ids: string): Promise<void> {
  for (const statement of leaves)
    await transaction.run(statement[transaction.dialect.name], { ids });
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
