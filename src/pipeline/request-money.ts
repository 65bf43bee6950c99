/**
 * Money for the paid calls of a request, such as reranking and answering. A request has no job and
 * no item: its caller pays, with the budget that it has set for the corpus. What the call may cost
 * is reserved before it, and what it has cost is charged in the commit that stores the response.
 * The reservation of a process that dies ends by time.
 */

import { limits } from '../kernel/limits/limits.ts';
import type { CorpusPlace } from '../kernel/name/corpus-name.ts';
import type { World } from '../kernel/world.ts';
import type { Tokens } from '../provider/prices.ts';
import { getCorpusSettings } from '../store/corpus/settings.ts';
import type { Database } from '../store/driver/database.ts';
import { releaseReservation, reserve } from '../store/money/budgets.ts';
import { getResults, keyOf, putResults } from '../store/money/paid-answers.ts';
import { addCorpusSpending } from '../store/money/spending.ts';
import { exhausted } from './paid-answers.ts';

/** The payer of a call, and its purpose. */
export interface RequestPurchase {
  readonly payer: CorpusPlace;
  /** The kind of call with its version, such as `rerank 1`. */
  readonly step: string;
  readonly model: string;
  /** Everything that the response depends on. */
  readonly input: string;
  /** The setting with the price of the model. */
  readonly priceSetting: string;
}

export interface RequestCost {
  readonly tokens: Tokens;
  /** Undefined if the price is unknown. */
  readonly cents: number | undefined;
}

/** Ends a reservation. Without a cost, nothing was paid. */
export type Settle = (
  cost?: RequestCost | undefined,
  /** Stored, so that the same call is not paid again. */
  response?: Uint8Array | undefined,
) => Promise<void>;

export class RequestMoney {
  readonly #database: Database;
  readonly #world: World;

  constructor(database: Database, world: World) {
    this.#database = database;
    this.#world = world;
  }

  /** An earlier response to the same call. What it would cost again is counted as saved. */
  async find(
    purchase: RequestPurchase,
    centsOf: (tokens: Tokens) => number | undefined,
  ): Promise<Uint8Array | undefined> {
    const key = keyOf(purchase);
    const row = (await getResults(this.#database, [key])).get(key);
    if (!row) return undefined;
    const tokens = { input: row.tokens, output: row.tokens_out };
    const saved = { tokensSaved: tokens.input + tokens.output, savedCents: centsOf(tokens) ?? 0 };
    const now = this.#database.now();
    await this.#database.write((transaction) =>
      addCorpusSpending(transaction, purchase.payer, { ...saved, now }),
    );
    return row.value;
  }

  /** Throws `budget_exhausted` if the caller's budget for the corpus does not allow the call. */
  async reserve(purchase: RequestPurchase, cents: number | undefined): Promise<Settle> {
    const { payer, step, model } = purchase;
    const { budget_cents } = await getCorpusSettings(this.#database, payer);
    // Reservations have the number of an item: that of a request is negative.
    const itemId = -Math.ceil(this.#world.random() * Number.MAX_SAFE_INTEGER);
    if (budget_cents !== null) {
      const now = this.#database.now();
      const until = now + limits.result.reservationMsMax;
      const wish = { ...payer, itemId, step, jobId: 0, cents, now, until };
      const shortage = await this.#database.write((transaction) => reserve(transaction, wish));
      if (shortage) throw exhausted(shortage, purchase, cents);
    }
    return async (cost, response) => {
      if (!cost && budget_cents === null) return;
      const now = this.#database.now();
      await this.#database.write(async (transaction) => {
        if (budget_cents !== null) await releaseReservation(transaction, { itemId, step });
        if (!cost) return;
        const { tokens, cents: costCents } = cost;
        await addCorpusSpending(transaction, payer, {
          tokensIn: tokens.input,
          tokensOut: tokens.output,
          tokensUnpriced: costCents === undefined ? tokens.input + tokens.output : 0,
          costCents: costCents ?? 0,
          now,
        });
        if (!response) return;
        const row = { key: keyOf(purchase), value: response, tokens: tokens.input };
        await putResults(transaction, [{ ...row, tokens_out: tokens.output }], { model, now });
      });
    };
  }
}
