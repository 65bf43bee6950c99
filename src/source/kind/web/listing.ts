/** A listing of pages: in the order of the keys, in parts that are committed one by one. */
import { compareKeys, type Listed, type ListedPage } from '../../../engine/sync/source-kind.ts';
import type { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';

/** What is known of one key. */
export type Row =
  | { readonly key: string; readonly entry: Listed }
  | { readonly key: string; readonly failure: Failure }
  | { readonly key: string; readonly isGone: true };

export async function* pagesOf(
  rows: AsyncIterable<Row> | Iterable<Row>,
): AsyncGenerator<ListedPage> {
  let held: Row[] = [];
  let bytes = 0;
  for await (const row of rows) {
    held.push(row);
    if ('entry' in row) bytes += row.entry.bytes?.length ?? 0;
    const { pagesAtOnce, pageBytesMax } = limits.sync;
    if (held.length < pagesAtOnce && bytes < pageBytesMax) continue;
    yield pageOf(held);
    [held, bytes] = [[], 0];
  }
  yield pageOf(held);
}

function pageOf(rows: readonly Row[]): ListedPage {
  return {
    entries: rows.flatMap((row) => ('entry' in row ? row.entry : [])),
    problems: rows.flatMap((row) => ('failure' in row ? row.failure : [])),
    gone: rows.flatMap((row) => ('isGone' in row ? row.key : [])),
  };
}

export function sorted<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  return [...rows].sort((one, other) => compareKeys(keyOf(one), keyOf(other)));
}
