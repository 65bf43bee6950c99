/**
 * Keeps batch responses whose items were canceled, failed or paused in the meantime. They were paid
 * for, so they are stored and charged here as the step would have done, and the same request is not
 * paid again later.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Bank } from '../../pipeline/lane/bank.ts';
import { answeredLines, type LeftRow, listLeft } from '../../store/batch/lines.ts';
import type { Database } from '../../store/driver/database.ts';
import { releaseIfOver } from '../../store/money/budgets.ts';

export interface BankOptions {
  readonly database: Database;
  /** By the step that sent the request. */
  readonly banks?: Readonly<Record<string, Bank>> | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

/** Returns the number of items for which responses were stored. */
export async function bankLeft(options: BankOptions, signal: AbortSignal): Promise<number> {
  const limit = limits.batch.pageMax;
  let banked = 0;
  // Without a batch lane there is nothing to look for.
  if (Object.keys(options.banks ?? {}).length === 0) return banked;
  for (let after = 0, isFull = true; isFull && !signal.aborted; ) {
    const page = await listLeft(options.database, { after, limit });
    for (const row of page) if (await bankItem(row, options)) banked += 1;
    after = page.at(-1)?.id ?? after;
    isFull = page.length === limit;
  }
  return banked;
}

/** Unreadable responses of one item do not affect the others. */
async function bankItem(row: LeftRow, { database, banks, onError }: BankOptions): Promise<boolean> {
  const { id, job_id: jobId, caller, corpus, source } = row;
  let isBanked = false;
  try {
    for (const [step, lines] of await answeredLines(database, id)) {
      const bank = banks?.[step];
      // The lane is no longer configured: its lines stay until it is.
      if (!bank) continue;
      await bank({ id, jobId, payer: { caller, corpus }, source }, lines);
      await database.write((transaction) => releaseIfOver(transaction, { itemId: id, step }));
      isBanked = true;
    }
  } catch (error) {
    onError(`storing the batch responses of item ${id}`, error);
  }
  return isBanked;
}
