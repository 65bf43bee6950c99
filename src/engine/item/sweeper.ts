/** Slow cleanup: stuck items, expired history, unreferenced fetched bytes. */
import type { SweptBlobs } from '../../blob/blob.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { oldestOpenTask } from '../../store/batch/tasks.ts';
import { listTurned, pruneOldVectors } from '../../store/corpus/reembedding.ts';
import { pruneFetches, readPlace, usedBlobs, writePlace } from '../../store/crawl/fetches.ts';
import { pruneDeliveries } from '../../store/delivery/deliveries.ts';
import { pruneEvents } from '../../store/delivery/events.ts';
import { packOldRows } from '../../store/document/packing-of-old-rows.ts';
import type { Database } from '../../store/driver/database.ts';
import { listWorkers } from '../../store/item/workers.ts';
import { pruneKeys } from '../../store/job/idempotency.ts';
import { pruneReservations } from '../../store/money/budgets.ts';
import { pruneResults } from '../../store/money/paid-answers.ts';
import { takeFrom } from './rescuer.ts';

/**
 * Fences off a holder without a committed step for too long, and queues the item again; or ends it
 * if that happened too often. An item that a remote service works on or has answered is not stuck:
 * it may wait there for a provider, with its own limit.
 */
export async function requeueStuck(database: Database, lifecycle: Lifecycle): Promise<number> {
  let requeued = 0;
  for (const { id: worker } of await listWorkers(database)) {
    const stuck = {
      worker,
      reason: `no committed step for ${limits.loop.stageStuckMs / 60_000} minutes`,
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

/** Documents whose vectors are removed in one transaction. */
const documentsAtOnce = 100;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes expired events of ended jobs and expired idempotency keys, a bounded number at a time.
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

/** Removes unreferenced fetches, and the bytes that only they referred to. */
export async function sweepFetched(
  database: Database,
  blobs: SweptBlobs | undefined,
): Promise<number> {
  const limit = limits.loop.pruneBatchMax;
  await database.write((transaction) => pruneFetches(transaction, limit));
  if (!blobs) return 0;
  const part = (await readPlace(database, 'blobs')) % blobs.parts;
  // The requests and partial results of a batch task are referenced only in its own state.
  const since = (await oldestOpenTask(database)) ?? database.now();
  const before = since - limits.loop.blobGraceMs;
  const used = (keys: readonly string[]) => usedBlobs(database, keys);
  const removed = await blobs.sweep({ part, before, limit, used });
  // A part with more than one sweep can remove is swept again.
  const next = removed < limit ? (part + 1) % blobs.parts : part;
  await database.write((transaction) => writePlace(transaction, 'blobs', next));
  return removed;
}

/** Packs texts and bytes of an older store, a bounded number at a time. */
export async function packOld(database: Database): Promise<void> {
  for (let turn = 0; turn < limits.packing.transactionsMax; turn += 1) {
    if ((await database.write((transaction) => packOldRows(transaction))) === 0) return;
  }
}

/**
 * Removes expired responses, reservations of calls without an outcome, and vectors of former
 * models, a bounded number at a time.
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
