/** The slow broom: items stuck in a worker's hands, and history past its keeping. */
import type { Lifecycle } from '../kernel/item.ts';
import { limits } from '../kernel/limits.ts';
import { pruneReservations } from '../store/budgets.ts';
import type { Database } from '../store/database.ts';
import { pruneEvents } from '../store/events.ts';
import { listTurned, pruneOldVectors } from '../store/reembedding.ts';
import { pruneResults } from '../store/results.ts';
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

/** Of which the vectors go in one transaction. */
const documentsAtOnce = 100;
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

/**
 * Removes answers past their keeping, money that was set aside for calls nobody heard of again, and
 * vectors of models that corpora have turned from, a bounded number at a time.
 */
export async function pruneMoney(database: Database): Promise<void> {
  const now = database.now();
  const limit = limits.loop.pruneBatchMax;
  const { ageMsMax, rowsMax } = limits.result;
  await database.write(async (transaction) => {
    await pruneReservations(transaction, now);
    await pruneResults(transaction, { before: now - ageMsMax, rowsMax, limit });
  });
  for (const turned of await listTurned(database)) {
    const pruneSome = (): Promise<number> =>
      database.write((transaction) => pruneOldVectors(transaction, turned, documentsAtOnce));
    while ((await pruneSome()) > 0);
  }
}
