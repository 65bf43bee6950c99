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

export function numberCursor(query: PageQuery): number | undefined {
  const isNumber = (text: string): boolean =>
    /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));
  const cursor = cursorOf(query, isNumber);
  return cursor === undefined ? undefined : Number(cursor);
}

export function keyCursor(query: PageQuery): string | undefined {
  return cursorOf(query, (text) => /^[0-9a-f]{32}$/.test(text));
}

/** Lists of corpora are sorted by name. */
export function nameCursor(query: PageQuery): string | undefined {
  return cursorOf(query, (text) => limits.corpus.fullNamePattern.test(text));
}

function cursorOf({ cursor }: PageQuery, isRight: (text: string) => boolean): string | undefined {
  if (cursor === undefined || isRight(cursor)) return cursor;
  throw new Failure('bad_request', 'the cursor is invalid: use next_cursor of a list');
}

/** Where the next page begins. A page that is not full is the last one. */
export function nextPage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string | number,
): { readonly next_cursor: string | null } {
  const last = rows.at(-1);
  const isLast = rows.length < limit || last === undefined;
  return { next_cursor: isLast ? null : String(placeOf(last)) };
}
