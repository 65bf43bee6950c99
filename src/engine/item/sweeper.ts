/** The slow broom: stuck items, history past its keeping, fetched bytes that nobody needs. */
import type { SweptBlobs } from '../../blob/blob.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { oldestOpenTask } from '../../store/batch/tasks.ts';
import { listTurned, pruneOldVectors } from '../../store/corpus/reembedding.ts';
import { pruneFetches, readPlace, usedBlobs, writePlace } from '../../store/crawl/fetches.ts';
import { pruneDeliveries } from '../../store/delivery/deliveries.ts';
import { pruneEvents } from '../../store/delivery/events.ts';
import type { Database } from '../../store/driver/database.ts';
import { listWorkers } from '../../store/item/workers.ts';
import { pruneKeys } from '../../store/job/idempotency.ts';
import { pruneReservations } from '../../store/money/budgets.ts';
import { pruneResults } from '../../store/money/paid-answers.ts';
import { takeFrom } from './rescuer.ts';

/**
 * Fences off whoever has held an item for so long without a click, and queues the item again; or
 * ends it, if that has happened too often. What a service elsewhere is seen to work on, or has
 * answered meanwhile, is not stuck: it may wait there for a provider, and that has its own bound.
 */
export async function requeueStuck(database: Database, lifecycle: Lifecycle): Promise<number> {
  let requeued = 0;
  for (const { id: worker } of await listWorkers(database)) {
    const stuck = {
      worker,
      reason: `no click for ${limits.loop.stageStuckMs / 60_000} minutes`,
      stuck: {
        movedBefore: database.now() - limits.loop.stageStuckMs,
        beatAfter: database.now() - limits.handoff.silentMsMax,
      },
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
    return (
      (await pruneEvents(transaction, events)) +
      (await pruneKeys(transaction, keys)) +
      (await pruneDeliveries(transaction, events))
    );
  });
}

/** Forgets fetches that no document stands on, and removes the bytes that only they referred to. */
export async function sweepFetched(
  database: Database,
  blobs: SweptBlobs | undefined,
): Promise<number> {
  const limit = limits.loop.pruneBatchMax;
  await database.write((transaction) => pruneFetches(transaction, limit));
  if (!blobs) return 0;
  const part = (await readPlace(database, 'blobs')) % blobs.parts;
  // The requests and the partial results of a batch task are named inside its own state.
  const since = (await oldestOpenTask(database)) ?? database.now();
  const before = since - limits.loop.blobGraceMs;
  const used = (keys: readonly string[]) => usedBlobs(database, keys);
  const removed = await blobs.sweep({ part, before, limit, used });
  // A part that had more than fits into one sweep is looked at again.
  const next = removed < limit ? (part + 1) % blobs.parts : part;
  await database.write((transaction) => writePlace(transaction, 'blobs', next));
  return removed;
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
