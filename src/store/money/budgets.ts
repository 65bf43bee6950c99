/**
 * Budgets. Before a paid call, its price is reserved; after it, the actual cost is charged and the
 * rest is released. Every process sees both, so concurrent items overshoot a budget by no more than
 * a misjudged price. Money reserved by a dead process is released when its item runs again, or
 * after a while.
 */
import { getCorpusSettings, lockCorpusSettings } from '../corpus/settings.ts';
import type { Transaction } from '../driver/database.ts';
import { hits, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { getSpending } from './spending.ts';

export interface Wish {
  readonly itemId: number;
  /** Steps of one item may run concurrently: each reserves its own. */
  readonly step: string;
  readonly jobId: number;
  readonly caller: string;
  readonly corpus: string;
  /** Undefined if the price is unknown: then no budget can be kept. */
  readonly cents: number | undefined;
  readonly now: number;
  readonly until: number;
}

/** Why the money does not suffice. */
export interface Shortage {
  readonly of: 'job' | 'corpus';
  readonly budgetCents: number;
  readonly spentCents: number;
  readonly reservedCents: number;
}

interface StepOfItem {
  readonly itemId: number;
  readonly step: string;
}

interface JobBudget {
  readonly budget_cents: number | null;
  readonly cost_cents: number;
}

const lockJob = sql<JobBudget>`
  SELECT budget_cents, cost_cents FROM jobs WHERE id = :job_id {forUpdate}`;
const reserved = `
  SELECT CAST(COALESCE(SUM(cents), 0) AS {real}) AS cents FROM reservations
  WHERE NOT (item_id = :item_id AND step = :step) AND until > :now`;
const reservedOfJob = sql<{ cents: number }>`${reserved} AND job_id = :job_id`;
const reservedOfCorpus = sql<{ cents: number }>`
  ${reserved} AND caller = :caller AND corpus = :corpus`;
const put = sql`
  INSERT INTO reservations (item_id, step, job_id, caller, corpus, cents, until)
  VALUES (:item_id, :step, :job_id, :caller, :corpus, :cents, :until)
  ON CONFLICT (item_id, step) DO UPDATE SET cents = excluded.cents, until = excluded.until`;

/**
 * Reserves money for a step's next calls, replacing its earlier reservation; or says why it cannot.
 */
export async function reserve(transaction: Transaction, wish: Wish): Promise<Shortage | undefined> {
  const { itemId, step, jobId, caller, corpus, now } = wish;
  // The corpus before the job, in the same lock order as a flip.
  const known = await getCorpusSettings(transaction, { caller, corpus });
  const isLimited = known.budget_cents !== null;
  const settings = isLimited ? await lockCorpusSettings(transaction, { caller, corpus }) : known;
  const [job] = await transaction.run(lockJob, { job_id: jobId });
  const own = { item_id: itemId, step };
  const same = { ...own, now };
  if (job && job.budget_cents !== null) {
    const [row] = await transaction.run(reservedOfJob, { ...same, job_id: jobId });
    const shortage = shortageOf(wish, {
      of: 'job',
      budgetCents: job.budget_cents,
      spentCents: job.cost_cents,
      reservedCents: row?.cents ?? 0,
    });
    if (shortage) return shortage;
  }
  if (settings.budget_cents !== null) {
    const [row] = await transaction.run(reservedOfCorpus, { ...same, caller, corpus });
    const shortage = shortageOf(wish, {
      of: 'corpus',
      budgetCents: settings.budget_cents,
      spentCents: (await getSpending(transaction, { caller, corpus })).cost_cents,
      reservedCents: row?.cents ?? 0,
    });
    if (shortage) return shortage;
  }
  const { cents = 0, until } = wish;
  await transaction.run(put, { ...own, job_id: jobId, caller, corpus, cents, until });
  return undefined;
}

function shortageOf({ cents }: Wish, state: Shortage): Shortage | undefined {
  const { budgetCents, spentCents, reservedCents } = state;
  const isEnough = cents !== undefined && spentCents + reservedCents + cents <= budgetCents;
  return isEnough ? undefined : state;
}

/** Without a budget, nothing has to be reserved. */
export const isBudgeted = hits<{ jobId: number; caller: string; corpus: string }>`
  SELECT id FROM jobs WHERE id = :jobId AND (budget_cents IS NOT NULL OR EXISTS (
    SELECT 1 FROM corpus_settings WHERE corpus_settings.caller = :caller
      AND corpus_settings.corpus = :corpus AND corpus_settings.budget_cents IS NOT NULL))`;

/** The reservation belongs to work that takes longer than a call. */
export const extendReservation = write<StepOfItem & { until: number }>`
  UPDATE reservations SET until = {greatest}(until, :until)
  WHERE item_id = :itemId AND step = :step`;

/** Charges a part of the reservation. */
export const settleReservation = write<StepOfItem & { cents: number }>`
  UPDATE reservations SET cents = {greatest}(0, cents - :cents)
  WHERE item_id = :itemId AND step = :step`;

/** The step spends nothing more for now. */
export const releaseReservation = write<StepOfItem>`
  DELETE FROM reservations WHERE item_id = :itemId AND step = :step`;

/** The item has ended, and none of its requests is still to be paid. */
export const releaseIfOver = write<StepOfItem>`
  DELETE FROM reservations WHERE item_id = :itemId AND step = :step AND EXISTS (
      SELECT 1 FROM items WHERE items.id = :itemId AND items.waits_on IS NULL)
    AND NOT EXISTS (SELECT 1 FROM batch_lines WHERE batch_lines.item_id = :itemId
      AND batch_lines.step = :step AND batch_lines.status = 'open')`;

export const pruneReservations = write<number>`DELETE FROM reservations WHERE until <= :now`;
