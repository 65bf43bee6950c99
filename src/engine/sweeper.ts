/** The slow broom: items stuck in a worker's hands, and history past its keeping. */
import type { Lifecycle } from '../kernel/item.ts';
import { limits } from '../kernel/limits.ts';
import type { Database } from '../store/database.ts';
import { pruneEvents } from '../store/events.ts';
import { pruneKeys } from '../store/idempotency.ts';
import { listWorkers } from '../store/workers.ts';
import { takeFrom } from './rescuer.ts';

/**
 * Fences off whoever has held an item for so long without a click, and queues the item again; or
 * ends it, if that has happened too often.
 */
export async function requeueStuck(database: Database, lifecycle: Lifecycle): Promise<number> {
  let requeued = 0;
  for (const { id: worker } of await listWorkers(database)) {
    const stuck = {
      worker,
      code: 'stage_stuck' as const,
      reason: `no click for ${limits.loop.stageStuckMs / 60_000} minutes`,
      movedBefore: database.now() - limits.loop.stageStuckMs,
    };
    requeued += await database.write((transaction) =>
      takeFrom(transaction, stuck, { database, lifecycle }),
    );
  }
  return requeued;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes events of ended jobs that are older than the retention, and idempotency keys that no
 * longer count, a bounded number at a time.
 */
export function pruneHistory(database: Database): Promise<number> {
  const limit = limits.loop.pruneBatchMax;
  return database.write(async (transaction) => {
    const now = database.now();
    const events = { before: now - limits.event.retentionDays * dayMs, limit };
    const keys = { before: now - limits.job.idempotencyTtlMs, limit };
    return (await pruneEvents(transaction, events)) + (await pruneKeys(transaction, keys));
  });
}
