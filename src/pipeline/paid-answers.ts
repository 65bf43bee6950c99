/**
 * The paid-answer cache and budget: no work is paid twice. A step first looks up earlier answers.
 * For the rest it reserves money, makes the call, and stores and charges the answer in a commit of
 * its own, before the commit of the step: a crash in between loses neither the answer nor the
 * charge.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import { costOf, type Prices, type Tokens } from '../provider/prices.ts';
import { appendEvents } from '../store/delivery/events.ts';
import type { Database, Transaction } from '../store/driver/database.ts';
import {
  isBudgeted,
  releaseReservation,
  reserve,
  type Shortage,
  settleReservation,
} from '../store/money/budgets.ts';
import { getResults, putResults, type ResultRow } from '../store/money/paid-answers.ts';
import { charge } from '../store/money/spending.ts';
import type { PipelineItem } from './pipeline.ts';

/** The purpose and the price of a paid call. */
export interface Purchase {
  readonly item: Pick<PipelineItem, 'id' | 'jobId' | 'payer'>;
  readonly step: string;
  readonly model: string;
  /** Undefined if unknown. */
  readonly prices: Prices | undefined;
  /** The setting with the price of the model. */
  readonly priceSetting: string;
}

/** A response and its cost. */
export interface PaidAnswer {
  readonly key: string;
  /** Undefined if the response is unusable: it is charged all the same, but not stored. */
  readonly value: Uint8Array | undefined;
  readonly tokens: Tokens;
  /** The cost, if it is not charged by tokens. */
  readonly cents?: number | undefined;
}

export class PaidAnswers {
  readonly #database: Database;
  readonly #world: World;

  constructor(database: Database, world: World) {
    this.#database = database;
    this.#world = world;
  }

  /** Answers that were paid for before, by key. */
  async find(keys: readonly string[]): Promise<Map<string, ResultRow>> {
    const found = new Map<string, ResultRow>();
    for (let start = 0; start < keys.length; start += limits.result.pageMax) {
      const page = keys.slice(start, start + limits.result.pageMax);
      for (const [key, row] of await getResults(this.#database, page)) found.set(key, row);
    }
    return found;
  }

  /**
   * Reserves the cost of calls of so many tokens; throws `budget_exhausted` if the budget does not
   * allow it. False if there is no budget and nothing to reserve.
   */
  reserve(purchase: Purchase, tokens: Tokens): Promise<boolean> {
    return this.reserveCents(purchase, centsFor(tokens, purchase));
  }

  /** `cents` is undefined if the cost is unknown, which no budget allows. */
  async reserveCents(purchase: Purchase, cents: number | undefined): Promise<boolean> {
    const { item, step } = purchase;
    const { jobId, payer } = item;
    const { caller, corpus } = payer;
    if (!(await isBudgeted(this.#database, { jobId, caller, corpus }))) return false;
    const now = this.#database.now();
    const until = now + limits.result.reservationMsMax;
    const wish = { itemId: item.id, step, jobId, caller, corpus, cents, now, until };
    const shortage = await this.#database.write((transaction) => reserve(transaction, wish));
    if (shortage) throw exhausted(shortage, purchase, cents);
    return true;
  }

  /** Stores answers and charges for them, in one commit. */
  async keep(purchase: Purchase, answers: readonly PaidAnswer[]): Promise<void> {
    await this.keepTaken(purchase, async () => answers);
  }

  /**
   * Like `keep`, for answers that several items may collect: `take` runs in that commit and assigns
   * each answer to one item. Returns the stored ones.
   */
  async keepTaken(
    purchase: Purchase,
    take: (transaction: Transaction) => Promise<readonly PaidAnswer[]>,
  ): Promise<readonly PaidAnswer[]> {
    const kept = await this.#database.write(async (transaction) => {
      const answers = await take(transaction);
      if (answers.length > 0) await this.#keepIn(transaction, purchase, answers);
      failpoint(this.#world, 'paid.before-commit');
      return answers;
    });
    failpoint(this.#world, 'paid.after-commit');
    return kept;
  }

  async #keepIn(
    transaction: Transaction,
    purchase: Purchase,
    answers: readonly PaidAnswer[],
  ): Promise<void> {
    const { item, step, model } = purchase;
    const { input: tokensIn, output: tokensOut } = sumOf(answers);
    const cost = costOfAll(answers, purchase);
    const now = this.#database.now();
    await charge(transaction, {
      itemId: item.id,
      jobId: item.jobId,
      now,
      tokensIn,
      tokensOut,
      tokensUnpriced: cost === undefined ? tokensIn + tokensOut : 0,
      costCents: cost ?? 0,
    });
    await settleReservation(transaction, { itemId: item.id, step, cents: cost ?? 0 });
    await putResults(transaction, rowsOf(answers), { model, now });
    const detail = {
      model,
      answers: answers.length,
      tokens_in: tokensIn,
      ...(tokensOut > 0 && { tokens_out: tokensOut }),
      cost_cents: cost ?? null,
    };
    const event = {
      kind: 'work_paid',
      jobId: item.jobId,
      itemId: item.id,
      step,
      detail,
    } as const;
    await appendEvents(transaction, [event], now);
  }

  /** The calls failed: releases what was reserved for them. */
  async release({ item, step }: Purchase): Promise<void> {
    await this.#database.write((transaction) =>
      releaseReservation(transaction, { itemId: item.id, step }),
    );
  }
}

function sumOf(answers: readonly PaidAnswer[]): Tokens {
  const sum = (name: keyof Tokens): number =>
    answers.reduce((all, { tokens }) => all + tokens[name], 0);
  return { input: sum('input'), output: sum('output') };
}

/** Undefined if the price of some answers is unknown. */
function costOfAll(answers: readonly PaidAnswer[], purchase: Purchase): number | undefined {
  const fixed = answers.reduce((sum, { cents = 0 }) => sum + cents, 0);
  const others = answers.filter(({ cents }) => cents === undefined);
  if (others.length === 0) return fixed;
  const rest = centsFor(sumOf(others), purchase);
  return rest === undefined ? undefined : fixed + rest;
}

function rowsOf(answers: readonly PaidAnswer[]): ResultRow[] {
  return answers.flatMap(({ key, value, tokens }) =>
    value ? { key, value, tokens: tokens.input, tokens_out: tokens.output } : [],
  );
}

export function centsFor(tokens: Tokens, { prices }: Pick<Purchase, 'prices'>): number | undefined {
  return prices && costOf(tokens, prices);
}

export function exhausted(
  { of, budgetCents, spentCents, reservedCents }: Shortage,
  { model, priceSetting }: Pick<Purchase, 'model' | 'priceSetting'>,
  cents: number | undefined,
): Failure {
  const round = (value: number): string => String(Number(value.toPrecision(4)));
  const budget = `the budget of this ${of} is ${round(budgetCents)} cents`;
  const message =
    cents === undefined
      ? `${budget}, and the price of ${model} is not known: set ${priceSetting}`
      : `${budget}: ${round(spentCents)} are spent, ${round(reservedCents)} set aside, and the ` +
        `next call costs ${round(cents)}`;
  return new Failure('budget_exhausted', message, { context: { of, budget_cents: budgetCents } });
}
