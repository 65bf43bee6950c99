/** Lists that are read page by page: as an async iterable, as single pages, or at once. */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { List, Page, PageOptions } from '../surface.ts';

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export type ReadPage<Entry> = (
  query: PageQuery,
  signal: AbortSignal | undefined,
) => Promise<Page<Entry>>;

export interface ListOptions {
  /** The most entries that an iteration yields; all if absent. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PageForm {
  /** The most entries of a page. */
  readonly pageMax?: number | undefined;
  /** The list has no cursor: one page holds it all. */
  readonly isWhole?: boolean | undefined;
}

export function listOf<Entry>(
  read: ReadPage<Entry>,
  options: ListOptions,
  { pageMax = limits.request.pageItemsMax, isWhole = false }: PageForm = {},
): List<Entry> {
  const whole = { ...options, limit: options.limit ?? pageMax };
  const iterate = (): AsyncGenerator<Entry> =>
    isWhole ? entriesOf(read, whole, whole.limit) : entriesOf(read, options, pageMax);
  return {
    [Symbol.asyncIterator]: iterate,
    page: ({ limit = options.limit, cursor, signal = options.signal }: PageOptions = {}) =>
      read({ limit, cursor }, signal),
    all: async () => {
      const entries: Entry[] = [];
      for await (const entry of iterate()) entries.push(entry);
      return entries;
    },
  };
}

async function* entriesOf<Entry>(
  read: ReadPage<Entry>,
  { limit, signal }: ListOptions,
  pageMax: number,
): AsyncGenerator<Entry> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new Failure('bad_request', `limit is a whole number above 0, not ${limit}`);
  }
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: Math.min(left, pageMax), cursor }, signal);
    for (const entry of page.items) {
      signal?.throwIfAborted();
      yield entry;
    }
    left -= page.items.length;
    if (page.nextCursor === null || left <= 0) return;
    cursor = page.nextCursor;
  }
}
