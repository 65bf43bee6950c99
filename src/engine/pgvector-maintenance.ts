/**
 * Sees to the points that pgvector searches: those of vectors that were there before it was, and
 * an index for each model that has many. New vectors get theirs by triggers.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { Database } from '../store/driver/database.ts';
import {
  fillSomePoints,
  listPointModels,
  type PointModelRow,
  setPointIndex,
} from '../store/search/pgvector-rows.ts';

/** Undefined: it is as it should be. */
export function indexWanted({ points, is_indexed: isIndexed }: PointModelRow): boolean | undefined {
  if (isIndexed) return points === 0 ? false : undefined;
  // As many as are counted are more than are ever compared one by one.
  return points > limits.points.exactMax ? true : undefined;
}

export class PgvectorMaintenance {
  readonly #database: Database;
  #isStopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  async run(): Promise<void> {
    // The index is made as soon as it pays, and not when everything is there: whoever writes waits
    // while it is made, and that takes longer the more there is.
    for (let isMore = true; isMore && !this.#isStopped; ) {
      isMore = await fillSomePoints(this.#database);
      await this.#setIndexes();
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #setIndexes(): Promise<void> {
    for (const model of await listPointModels(this.#database, limits.points.exactMax + 1)) {
      const wanted = indexWanted(model);
      if (wanted === undefined || this.#isStopped) continue;
      await this.#database.write((transaction) => setPointIndex(transaction, model, wanted));
    }
  }
}
