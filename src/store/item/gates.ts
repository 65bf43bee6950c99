/**
 * Gates: at most so many items of one domain stand in the common queue at a time; the others wait
 * at the gate, in their own order. Claiming therefore never has to look past items that may not run
 * yet, however long the line behind a gate is. Places that are held are counted from the
 * items themselves, so the count cannot drift.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { admit } from './interventions.ts';
import { popLine } from './queues.ts';

/** How many items of a domain may be read at once, and how far apart. */
export interface GateLimits {
  readonly concurrency: number;
  readonly intervalMs: number;
}

interface GateRow {
  readonly name: string;
  readonly concurrency: number;
  readonly interval_ms: number;
  readonly next_at: number;
  /** Until then nothing is read, not even what was let through before. */
  readonly held_until: number;
}

const openGate = sql`
  INSERT INTO gates (name, concurrency, interval_ms, next_at)
  VALUES (:name, :concurrency, :interval_ms, 0) ON CONFLICT (name) DO NOTHING`;
const lockGate = sql<GateRow>`SELECT * FROM gates WHERE name = :name {forUpdate}`;
const setGate = sql`
  UPDATE gates SET concurrency = :concurrency, interval_ms = :interval_ms WHERE name = :name`;
const setNext = sql`UPDATE gates SET next_at = :next_at WHERE name = :name`;
const holdNext = sql`
  UPDATE gates SET next_at = {greatest}(next_at, CAST(:until AS {int})),
    held_until = {greatest}(held_until, CAST(:until AS {int})) WHERE name = :name`;
const readGate = sql<GateRow>`SELECT * FROM gates WHERE name = :name`;
const countHeld = sql<{ held: number }>`
  SELECT COUNT(*) AS held FROM items WHERE gate = :name AND gate_held = 1`;

/** Fills the free places at these gates. Returns how many items were let through. */
export async function admitAtGates(
  transaction: Transaction,
  names: Iterable<string>,
  now: number,
): Promise<number> {
  let admitted = 0;
  for (const name of [...new Set(names)].sort()) {
    await transaction.run(openGate, { name, ...defaults });
    admitted += await admitAt(transaction, name, now);
  }
  return admitted;
}

const defaults = {
  concurrency: limits.fetch.domainConcurrencyMax,
  interval_ms: limits.fetch.domainIntervalMs,
};

async function admitAt(transaction: Transaction, name: string, now: number): Promise<number> {
  const [gate] = await transaction.run(lockGate, { name });
  const [count] = await transaction.run(countHeld, { name });
  if (!gate || !count || count.held >= gate.concurrency) return 0;
  const waiting = await popLine(transaction, name, gate.concurrency - count.held);
  if (waiting.length === 0) return 0;
  let nextAt = Math.max(now, gate.next_at);
  const admitted = waiting.map(({ id, rank }) => {
    const dueAt = nextAt > now ? nextAt : null;
    nextAt += gate.interval_ms;
    return { id, rank, dueAt };
  });
  await admit(transaction, admitted);
  if (gate.interval_ms > 0) await transaction.run(setNext, { name, next_at: nextAt });
  return admitted.length;
}

export async function getGateLimits(reader: Reader, name: string): Promise<GateLimits> {
  const [gate = defaults] = await reader.run(readGate, { name });
  return { concurrency: gate.concurrency, intervalMs: gate.interval_ms };
}

/** Sets how many items of a domain may be read at once, and how far apart. */
export async function setGateLimits(
  transaction: Transaction,
  gate: GateLimits & { readonly name: string },
  now: number,
): Promise<void> {
  const { name, concurrency, intervalMs } = gate;
  await transaction.run(openGate, { name, ...defaults });
  await transaction.run(setGate, { name, concurrency, interval_ms: intervalMs });
  await admitAt(transaction, name, now);
}

/** Where nothing is known of a domain yet, it begins at this pace. */
export async function openGateAt(
  transaction: Transaction,
  { name, concurrency, intervalMs }: GateLimits & { readonly name: string },
): Promise<void> {
  await transaction.run(openGate, { name, concurrency, interval_ms: intervalMs });
}

/** Until when nothing of the domain may be read; a time that is past where nobody said so. */
export async function heldUntil(reader: Reader, name: string): Promise<number> {
  return (await reader.run(readGate, { name }))[0]?.held_until ?? 0;
}

/** No more of the domain is read before this time. Requests that were sent are not aborted. */
export async function holdGate(
  transaction: Transaction,
  { name, until }: { readonly name: string; readonly until: number },
): Promise<void> {
  await transaction.run(openGate, { name, ...defaults });
  await transaction.run(holdNext, { name, until });
}
