/**
 * Spending: per item, per job, and per day for each caller and corpus. A response is charged in the
 * transaction that stores it, so that stored and charged responses never differ; a step that
 * reports its own usage is charged in its commit.
 */
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface Spent {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** Tokens among them without a known price. */
  readonly tokensUnpriced?: number;
  readonly costCents?: number;
  /** Tokens not paid again, because the response was cached. */
  readonly tokensSaved?: number;
  readonly savedCents?: number;
}

const amounts = {
  tokens_in: 'int',
  tokens_out: 'int',
  tokens_unpriced: 'int',
  tokens_saved: 'int',
  cost_cents: 'real',
  saved_cents: 'real',
} as const;

function valuesOf(spent: Spent): SpendingRow {
  return {
    tokens_in: spent.tokensIn ?? 0,
    tokens_out: spent.tokensOut ?? 0,
    tokens_unpriced: spent.tokensUnpriced ?? 0,
    tokens_saved: spent.tokensSaved ?? 0,
    cost_cents: spent.costCents ?? 0,
    saved_cents: spent.savedCents ?? 0,
  };
}

const chargeItem = sql`
  UPDATE items SET tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out,
    cost_cents = cost_cents + :cost_cents
  WHERE id = :item_id`;
const chargeJob = sql`
  UPDATE jobs SET tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out,
    tokens_unpriced = tokens_unpriced + :tokens_unpriced,
    tokens_saved = tokens_saved + :tokens_saved,
    cost_cents = cost_cents + :cost_cents, saved_cents = saved_cents + :saved_cents
  WHERE id = :job_id`;

/** Charges an item, its job, and its caller's spending on the corpus. */
export async function charge(
  transaction: Transaction,
  { itemId, jobId, now, ...spent }: Spent & { itemId: number; jobId: number; now: number },
): Promise<void> {
  const { tokens_in, tokens_out, cost_cents, ...rest } = valuesOf(spent);
  const paid = { tokens_in, tokens_out, cost_cents };
  if (tokens_in + tokens_out + cost_cents > 0) {
    await transaction.run(chargeItem, { item_id: itemId, ...paid });
  }
  await transaction.run(chargeJob, { job_id: jobId, ...paid, ...rest });
  await addSpending(transaction, [{ jobId, ...spent }], now);
}

const names = Object.keys(amounts) as (keyof typeof amounts)[];
const given = names.map((name) => `CAST(:${name} AS {${amounts[name]}})`);
const addUp = `ON CONFLICT (caller, corpus, day) DO UPDATE SET
    ${names.map((name) => `${name} = spending.${name} + excluded.${name}`).join(', ')}`;
const addRow = sql`
  INSERT INTO spending (caller, corpus, day, ${names.join(', ')})
  SELECT caller, corpus, CAST(:day AS TEXT), ${given.join(', ')} FROM jobs WHERE id = :job_id
  ${addUp}`;

const addOwnRow = sql`
  INSERT INTO spending (caller, corpus, day, ${names.join(', ')})
  SELECT CAST(:caller AS TEXT), CAST(:corpus AS TEXT), CAST(:day AS TEXT), ${given.join(', ')}
  WHERE 1 = 1
  ${addUp}`;

/** Adds to today's spending of a caller on a corpus, for a call that belongs to no job. */
export async function addCorpusSpending(
  transaction: Transaction,
  { caller, corpus }: { readonly caller: string; readonly corpus: string },
  { now, ...spent }: Spent & { readonly now: number },
): Promise<void> {
  await transaction.run(addOwnRow, { caller, corpus, day: dayOf(now), ...valuesOf(spent) });
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** Adds to today's spending of the jobs' callers on their corpora. */
export async function addSpending(
  transaction: Transaction,
  spent: readonly (Spent & { readonly jobId: number })[],
  now: number,
): Promise<void> {
  const day = dayOf(now);
  for (const { jobId, ...each } of spent) {
    await transaction.run(addRow, { job_id: jobId, day, ...valuesOf(each) });
  }
}

export type SpendingRow = Readonly<Record<keyof typeof amounts, number>>;

const sumOf = (name: keyof typeof amounts): string =>
  `CAST(COALESCE(SUM(${name}), 0) AS {${amounts[name]}}) AS ${name}`;
const sums = names.map(sumOf).join(', ');
const ofCorpus = sql<SpendingRow>`
  SELECT ${sums} FROM spending WHERE caller = :caller AND corpus = :corpus`;
const ofCaller = sql<SpendingRow>`SELECT ${sums} FROM spending WHERE caller = :caller`;

/** A caller's spending on one corpus, or on all. */
export async function getSpending(
  reader: Reader,
  { caller, corpus }: { caller: string; corpus?: string | undefined },
): Promise<SpendingRow> {
  const [row] =
    corpus === undefined
      ? await reader.run(ofCaller, { caller })
      : await reader.run(ofCorpus, { caller, corpus });
  return row ? { ...row } : valuesOf({});
}
