/**
 * Group commit: work that arrives while a commit is running shares the next one. Two pieces of work
 * with the same key are never in one commit, and keep their order.
 */
import { type Failure, isRetried, toFailure } from '../../kernel/failure/failure.ts';
import type { World } from '../../kernel/world.ts';
import type { Database, Transaction } from './database.ts';

/** The result of one piece of work: a refusal of one does not undo the others. */
export type Settled<Out> = { readonly value: Out } | { readonly refusal: Failure };

export interface CommitGroupOptions<In, Out> {
  readonly database: Pick<Database, 'write'>;
  readonly world: Pick<World, 'afterTurn'>;
  readonly sizeMax: number;
  /** Undefined: it is committed alone. */
  readonly keyOf: (one: In) => string | undefined;
  /** Returns one result for each piece, in the same order. May run again, like all writes. */
  readonly apply: (transaction: Transaction, batch: readonly In[]) => Promise<Settled<Out>[]>;
}

interface Pending<In, Out> {
  readonly one: In;
  readonly resolve: (value: Out) => void;
  readonly reject: (error: unknown) => void;
}

export class CommitGroup<In, Out> {
  readonly #options: CommitGroupOptions<In, Out>;
  #pending: Pending<In, Out>[] = [];
  #isCommitting = false;

  constructor(options: CommitGroupOptions<In, Out>) {
    this.#options = options;
  }

  /** Resolves when it is on disk. Rejects with its own refusal, or because the commit failed. */
  add(one: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ one, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isCommitting) return;
    this.#isCommitting = true;
    this.#options.world.afterTurn(() => void this.#commitPending());
  }

  async #commitPending(): Promise<void> {
    await this.#commit(this.#take());
    this.#isCommitting = false;
    if (this.#pending.length > 0) this.#schedule();
  }

  #take(): Pending<In, Out>[] {
    const { keyOf, sizeMax } = this.#options;
    const [first, ...others] = this.#pending;
    if (!first) return [];
    const key = keyOf(first.one);
    const batch = [first];
    const rest: Pending<In, Out>[] = [];
    const keys = new Set([key]);
    for (const pending of others) {
      const own = keyOf(pending.one);
      const isAlone = key === undefined || own === undefined;
      if (isAlone || keys.has(own) || batch.length >= sizeMax) rest.push(pending);
      else batch.push(pending);
      keys.add(own);
    }
    this.#pending = rest;
    return batch;
  }

  async #commit(batch: readonly Pending<In, Out>[]): Promise<void> {
    const { database, apply } = this.#options;
    const all = batch.map(({ one }) => one);
    try {
      const settled = await database.write((transaction) => apply(transaction, all));
      batch.forEach(({ resolve, reject }, index) => {
        const end = settled[index] as Settled<Out>;
        if ('refusal' in end) reject(end.refusal);
        else resolve(end.value);
      });
    } catch (error) {
      // While the store is away, each retry would only wait for it again.
      if (batch.length === 1 || isRetried(toFailure(error).code)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One of them failed the commit for all: each is retried alone.
      for (const pending of batch) await this.#commit([pending]);
    }
  }
}
