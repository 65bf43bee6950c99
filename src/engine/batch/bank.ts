/**
 * Answers of batches that their items do not come for: those were canceled, failed or are paused
 * while the batch went on. What came was paid for. It is kept and charged here as its step would
 * have done, so that whoever asks the same later does not pay again.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Bank } from '../../pipeline/lane/bank.ts';
import { answeredLines, type LeftRow, listLeft } from '../../store/batch/lines.ts';
import type { Database } from '../../store/driver/database.ts';
import { releaseIfOver } from '../../store/money/budgets.ts';

export interface BankOptions {
  readonly database: Database;
  /** By the step that asked. */
  readonly banks?: Readonly<Record<string, Bank>> | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

/** Returns for how many items something was kept. */
export async function bankLeft(options: BankOptions, signal: AbortSignal): Promise<number> {
  const limit = limits.batch.pageMax;
  let banked = 0;
  // Where there is no lane, there is nothing to look for.
  if (Object.keys(options.banks ?? {}).length === 0) return banked;
  for (let after = 0, isFull = true; isFull && !signal.aborted; ) {
    const page = await listLeft(options.database, { after, limit });
    for (const row of page) if (await bankItem(row, options)) banked += 1;
    after = page.at(-1)?.id ?? after;
    isFull = page.length === limit;
  }
  return banked;
}

/** One whose answers cannot be read does not keep the others from theirs. */
async function bankItem(row: LeftRow, { database, banks, onError }: BankOptions): Promise<boolean> {
  const { id, job_id: jobId, caller, corpus, source } = row;
  let isBanked = false;
  try {
    for (const [step, lines] of await answeredLines(database, id)) {
      const bank = banks?.[step];
      // A lane that is not configured any more: the lines stay for when it is again.
      if (!bank) continue;
      await bank({ id, jobId, payer: { caller, corpus }, source }, lines);
      await database.write((transaction) => releaseIfOver(transaction, { itemId: id, step }));
      isBanked = true;
    }
  } catch (error) {
    onError(`keeping the answers of batches for item ${id}`, error);
  }
  return isBanked;
}
