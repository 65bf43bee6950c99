/** Carries out moves from one caller to another, a bounded number of rows at a time. */
import { limits } from '../../kernel/limits/limits.ts';
import { lockCallers } from '../../store/caller/callers.ts';
import {
  beginMove,
  endMove,
  listOpenMoves,
  listStragglers,
  type MoveRow,
  moveLateItems,
  moveSomeJobs,
  moveSomeOthers,
  moveSomeSources,
  moveSomeSpending,
} from '../../store/caller/ownership-moves.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';

/** Continues every open move. Returns the number of rows moved. */
export async function carryOutMoves(database: Database): Promise<number> {
  await reopenMerged(database);
  let moved = 0;
  for (const row of await listOpenMoves(database)) moved += await carryOut(database, row);
  return moved;
}

async function carryOut(database: Database, row: MoveRow): Promise<number> {
  const limit = limits.caller.moveRowsMax;
  const isWhole = row.corpus === null;
  let moved = 0;
  const repeat = async (step: (transaction: Transaction) => Promise<number>): Promise<void> => {
    for (let count = 1; count > 0; moved += count) {
      count = await database.write(async (transaction) => {
        await lockCallers(transaction);
        return step(transaction);
      });
    }
  };
  await repeat((transaction) => moveSomeJobs(transaction, row, { limit, now: database.now() }));
  await repeat((transaction) => moveSomeSpending(transaction, row, limit));
  await repeat((transaction) => moveSomeSources(transaction, row, limit));
  if (isWhole) await repeat((transaction) => moveSomeOthers(transaction, row, limit));
  await repeat((transaction) => moveLateItems(transaction, row, limit));
  const isSettled = database.now() - row.created_at >= limits.caller.settleMs;
  if (moved > 0 || !isSettled) return moved;
  const { id } = row;
  await database.write((transaction) => endMove(transaction, { id, now: database.now() }));
  return moved;
}

/**
 * A process that did not know of a merge has written rows under the old id: they are moved, too.
 */
async function reopenMerged(database: Database): Promise<void> {
  const open = new Set((await listOpenMoves(database)).map(({ from_caller }) => from_caller));
  for (const { from_caller: from, to_caller: to } of await listStragglers(database)) {
    if (open.has(from)) continue;
    await database.write(async (transaction) => {
      await lockCallers(transaction);
      await beginMove(transaction, { from, to, isMerge: true, now: database.now() });
    });
  }
}
