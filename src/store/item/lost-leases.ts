/** Items that go back to the queue because their worker died, made no progress, or gave them up. */
import { limits } from '../../kernel/limits/limits.ts';
import { isSuspect } from '../../kernel/suspicion.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { compileMove } from './compile-move.ts';
import { holdFencesOfItems } from './fence.ts';
import { type MovedRow, moved, movedColumns, standAll } from './interventions.ts';
import { listLeases } from './items.ts';
import { claimedItems } from './queues.ts';

/** A worker that only waited for the response of a service did not die of the item. */
const isCharged = `crashes >= :charged_from AND NOT EXISTS (SELECT 1 FROM handoffs
  WHERE handoffs.item_id = items.id AND handoffs.answered_at IS NULL)`;
const rescuing = compileMove('rescue');
const takeFromWorker = sql<
  MovedRow,
  'ids' | 'worker' | 'stall' | 'charged_from' | 'alone' | 'moved_before' | 'beat_after'
>`
  UPDATE items SET ${rescuing.set}, worker = NULL, stalls = stalls + :stall,
    crashes = crashes + CASE WHEN ${isCharged} THEN 1 ELSE 0 END,
    lone_deaths = lone_deaths + CASE WHEN :alone = 1 AND ${isCharged} THEN 1 ELSE 0 END
  WHERE id {amongIds} AND worker = :worker AND moved_at <= :moved_before
    AND ${rescuing.where} AND NOT EXISTS (SELECT 1 FROM handoffs WHERE handoffs.item_id = items.id
      AND (handoffs.beat_at >= :beat_after OR handoffs.answered_at > :moved_before))
  ${moved}`;

export interface TakenLeases {
  readonly worker: string;
  /** The worker has died, which counts against its items. */
  readonly isDead: boolean;
  /** Only items that have not moved since then, and that no other service works on. */
  readonly stuck?: { readonly movedBefore: number; readonly beatAfter: number } | undefined;
}

const anyLease = { movedBefore: Number.MAX_SAFE_INTEGER, beatAfter: Number.MAX_SAFE_INTEGER };

/** Takes a worker's leases away. If it died, its items are charged for the death. */
export async function takeLeases(
  transaction: Transaction,
  { worker, isDead, stuck }: TakenLeases,
): Promise<MovedRow[]> {
  const { movedBefore, beatAfter } = stuck ?? anyLease;
  const claimed = await claimedItems(transaction, worker);
  await holdFencesOfItems(transaction, JSON.stringify(claimed));
  const charge = isDead ? await chargeFor(transaction, worker, claimed) : noCharge;
  const rows = await transaction.run(takeFromWorker, {
    ids: JSON.stringify(claimed),
    worker,
    stall: stuck ? 1 : 0,
    moved_before: movedBefore,
    beat_after: beatAfter,
    ...charge,
  });
  return standAll(transaction, rows);
}

interface Charge {
  /** Only items with so many crashes are charged. */
  readonly charged_from: number;
  readonly alone: 0 | 1;
}

const noCharge: Charge = { charged_from: Number.MAX_SAFE_INTEGER, alone: 0 };

/**
 * A death is charged to the suspect, if the worker held one; otherwise to all its items. A suspect
 * that has run alone for long may have got company since.
 */
async function chargeFor(
  transaction: Transaction,
  worker: string,
  claimed: readonly number[],
): Promise<Charge> {
  const held = await listLeases(transaction, worker, claimed);
  const hasSuspect = held.some(({ crashes }) => isSuspect(crashes));
  return {
    charged_from: hasSuspect ? limits.suspect.crashesMin : 0,
    alone: hasSuspect && held.length === 1 ? 1 : 0,
  };
}

const handingBack = compileMove('hand_back');
const handBackRow = sqlRows({ id: 'int', epoch: 'int' })<MovedRow>`
  UPDATE items SET ${handingBack.set}, worker = NULL {rows}
  WHERE items.id = :id AND ${handingBack.where}
  RETURNING items.id, ${movedColumns}`;

/** Puts leases back into the queue whose holder does not know whether its report was committed. */
export async function handBack(
  transaction: Transaction,
  leases: readonly { id: number; epoch: number }[],
): Promise<void> {
  await standAll(transaction, await transaction.each(handBackRow, leases));
}
