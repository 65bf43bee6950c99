/**
 * Which of the items whose turn it is have a place at the service of their next step. Those without
 * one move from the common queue to that of the service, in their order: so a claim does not skip
 * them again, and items that need another service do not wait behind them.
 */

import type { Progress } from '../../kernel/lifecycle/item.ts';
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { type StepService, stepServices } from '../../kernel/lifecycle/stage.ts';
import type { Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { enqueueForServices, popServiceQueue, popTurns, type ServiceQueued } from './queues.ts';

export interface FreeSlots {
  /** Free places. */
  readonly free: Readonly<Record<StepService, number>>;
  /** The service of an item's next step, as far as it is known before the item is read. */
  readonly expected: (item: {
    readonly progress: Progress;
    readonly sourceKind: string;
  }) => StepService;
}

export interface SlotClaims {
  /** In fair order. */
  readonly withSlot: readonly ServiceQueued[];
  /** Whether items were taken from the common queue, so that there may be more. */
  readonly hasLooked: boolean;
}

const standing = sql<{ id: number; rank: number; progress: number; source_kind: string }>`
  SELECT id, rank, progress, source_kind FROM items
  WHERE id {amongIds} AND waits_on = '${place.turn}'`;

export async function popWithFreeSlot(
  transaction: Transaction,
  { free, expected }: FreeSlots,
): Promise<SlotClaims> {
  const ids = await popTurns(transaction, Math.max(...Object.values(free)));
  const rows =
    ids.length === 0 ? [] : await transaction.run(standing, { ids: JSON.stringify(ids) });
  const found = rows.map(({ id, rank, progress, source_kind }) => {
    return { id, rank, service: expected({ progress, sourceKind: source_kind }) };
  });
  const withSlot: ServiceQueued[] = [];
  for (const service of stepServices) {
    const places = free[service];
    const queued = places > 0 ? await popServiceQueue(transaction, service, places) : [];
    const waiting = [...queued, ...found.filter((item) => item.service === service)];
    waiting.sort((a, b) => a.rank - b.rank || a.id - b.id);
    withSlot.push(...waiting.slice(0, places));
    await enqueueForServices(transaction, waiting.slice(places));
  }
  return { withSlot, hasLooked: ids.length > 0 };
}
