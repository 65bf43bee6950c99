/**
 * Maintains the vectors that pgvector searches: copies vectors that are older than the triggers,
 * and builds an index for each model with many. Triggers copy new vectors.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { Database } from '../store/driver/database.ts';
import {
  fillSomePoints,
  listPointModels,
  type PointModelRow,
  setPointIndex,
} from '../store/search/pgvector-rows.ts';

/** Undefined: no change needed. */
export function indexWanted({ points, is_indexed: isIndexed }: PointModelRow): boolean | undefined {
  if (isIndexed) return points === 0 ? false : undefined;
  // The count stops above the limit for exact comparison.
  return points > limits.points.exactMax ? true : undefined;
}

export class PgvectorMaintenance {
  readonly #database: Database;
  #isStopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  async run(): Promise<void> {
    // The index is built as soon as it pays off, not at the end: writers wait during the build, and
    // it takes longer with more rows.
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
