/**
 * Paid work is not paid twice. A step asks the purse first: what was answered before is there. For
 * the rest it sets money aside, makes the call, and has the answer kept and charged in one commit
 * of its own, before the click: a crash between the two loses neither the answer nor the account.
 */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import {
  isBudgeted,
  releaseReservation,
  reserve,
  type Shortage,
  settleReservation,
} from '../store/budgets.ts';
import type { Database } from '../store/database.ts';
import { appendEvents } from '../store/events.ts';
import { getResults, putResults, type ResultRow } from '../store/results.ts';
import { charge } from '../store/spending.ts';
import type { PipelineItem } from './pipeline.ts';

/** What a paid call was made for, and at what price. */
export interface Purchase {
  readonly item: PipelineItem;
  readonly step: string;
  readonly model: string;
  /** Undefined where nobody knows it. */
  readonly centsPerMillionTokens: number | undefined;
}

export class Purse {
  readonly #database: Database;
  readonly #world: World;

  constructor(database: Database, world: World) {
    this.#database = database;
    this.#world = world;
  }

  /** Answers that were paid for before, by their keys. */
  async find(keys: readonly string[]): Promise<Map<string, ResultRow>> {
    const found = new Map<string, ResultRow>();
    for (let start = 0; start < keys.length; start += limits.result.pageMax) {
      const page = keys.slice(start, start + limits.result.pageMax);
      for (const [key, row] of await getResults(this.#database, page)) found.set(key, row);
    }
    return found;
  }

  /**
   * Sets aside what a call of so many tokens will cost; `budget_exhausted` where it may not. False:
   * there is no budget, and nothing to set aside.
   */
  async reserve(purchase: Purchase, tokens: number): Promise<boolean> {
    const { item, model } = purchase;
    const { jobId, caller, corpus } = item;
    if (!(await isBudgeted(this.#database, { jobId, caller, corpus }))) return false;
    const cents = centsFor(tokens, purchase);
    const now = this.#database.now();
    const until = now + limits.result.reservationMsMax;
    const shortage = await this.#database.write((transaction) =>
      reserve(transaction, { itemId: item.id, jobId, caller, corpus, cents, now, until }),
    );
    if (shortage) throw exhausted(shortage, { cents, model });
    return true;
  }

  /** Keeps answers and charges for them, in one commit. */
  async keep(purchase: Purchase, answers: readonly ResultRow[]): Promise<void> {
    const { item, step, model } = purchase;
    const tokensIn = answers.reduce((sum, { tokens }) => sum + tokens, 0);
    const cost = centsFor(tokensIn, purchase);
    await this.#database.write(async (transaction) => {
      const now = this.#database.now();
      await charge(transaction, {
        itemId: item.id,
        jobId: item.jobId,
        now,
        tokensIn,
        tokensUnpriced: cost === undefined ? tokensIn : 0,
        costCents: cost ?? 0,
      });
      await settleReservation(transaction, { itemId: item.id, cents: cost ?? 0 });
      await putResults(transaction, answers, { model, now });
      const detail = { model, answers: answers.length, tokens_in: tokensIn };
      await appendEvents(
        transaction,
        [
          {
            kind: 'work_paid',
            jobId: item.jobId,
            itemId: item.id,
            step,
            detail: { ...detail, cost_cents: cost ?? null },
          },
        ],
        now,
      );
      failpoint(this.#world, 'paid.before-commit');
    });
    failpoint(this.#world, 'paid.after-commit');
  }

  /** The call came to nothing: what was set aside for it comes back. */
  async release({ id }: PipelineItem): Promise<void> {
    await this.#database.write((transaction) => releaseReservation(transaction, id));
  }
}

const million = 1_000_000;

export function centsFor(
  tokens: number,
  { centsPerMillionTokens }: Pick<Purchase, 'centsPerMillionTokens'>,
): number | undefined {
  return centsPerMillionTokens === undefined
    ? undefined
    : (tokens * centsPerMillionTokens) / million;
}

function exhausted(
  { of, budgetCents, spentCents, reservedCents }: Shortage,
  { cents, model }: { cents: number | undefined; model: string },
): Failure {
  const round = (value: number): string => String(Number(value.toPrecision(4)));
  const budget = `the budget of this ${of} is ${round(budgetCents)} cents`;
  const message =
    cents === undefined
      ? `${budget}, and the price of ${model} is not known: set PAWL_EMBEDDER_PRICE`
      : `${budget}: ${round(spentCents)} are spent, ${round(reservedCents)} set aside, and the ` +
        `next call costs ${round(cents)}`;
  return new Failure('budget_exhausted', message, { context: { of, budget_cents: budgetCents } });
}
