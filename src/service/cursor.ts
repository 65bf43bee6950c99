/** A cursor is the position of the last entry shown. It never leads to entries of other callers. */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export function limitOf({ limit }: PageQuery): number {
  return limit ?? limits.request.pageItemsDefault;
}

export function numberCursor({ cursor }: PageQuery): number | undefined {
  if (cursor === undefined) return undefined;
  const value = Number(cursor);
  if (/^\d{1,16}$/.test(cursor) && Number.isSafeInteger(value)) return value;
  throw new Failure('bad_request', 'the cursor is invalid: use next_cursor of a list');
}

export function keyCursor({ cursor }: PageQuery): string | undefined {
  if (cursor === undefined || /^[0-9a-f]{32}$/.test(cursor)) return cursor;
  throw new Failure('bad_request', 'the cursor is invalid: use next_cursor of a list');
}

/** Lists of corpora are sorted by name. */
export function nameCursor({ cursor }: PageQuery): string | undefined {
  if (cursor === undefined || limits.corpus.fullNamePattern.test(cursor)) return cursor;
  throw new Failure('bad_request', 'the cursor is invalid: use next_cursor of a list');
}

/** A page that is not full is the last one. */
export function nextCursor<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string | number,
): string | null {
  const last = rows.at(-1);
  return rows.length < limit || last === undefined ? null : String(placeOf(last));
}
