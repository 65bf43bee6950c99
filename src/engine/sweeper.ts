/** The slow broom: items stuck in a worker's hands, and history past its keeping. */
import { limits } from '../kernel/limits.ts';
import type { Database } from '../store/database.ts';
import { appendEvents, pruneEvents } from '../store/events.ts';
import { takeLeases } from '../store/intervention.ts';
import { listWorkers } from '../store/workers.ts';

/** Fences off whoever has held an item for so long without a click, and queues the item again. */
export async function requeueStuck(database: Database): Promise<number> {
  let requeued = 0;
  for (const { id: worker } of await listWorkers(database)) {
    requeued += await database.write(async (transaction) => {
      const now = database.now();
      const rows = await takeLeases(transaction, {
        worker,
        crash: true,
        movedBefore: now - limits.loop.stageStuckMs,
      });
      const events = rows.map((row) => ({
        kind: 'lease_lost' as const,
        jobId: row.job_id,
        itemId: row.id,
        worker,
        detail: { code: 'stage_stuck', reason: 'no click for 30 minutes' },
      }));
      await appendEvents(transaction, events, now);
      return rows.length;
    });
  }
  return requeued;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Removes events of ended jobs that are older than the retention, a bounded number at a time. */
export function pruneHistory(database: Database): Promise<number> {
  return database.write((transaction) =>
    pruneEvents(transaction, {
      before: database.now() - limits.event.retentionDays * dayMs,
      limit: limits.loop.pruneBatchMax,
    }),
  );
}
