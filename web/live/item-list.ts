/** The documents of a job. A short list is read again; of a long one, only the changed rows. */
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Client } from '../../src/client/http.ts';
import type { AnswerOf } from '../../src/contract/contract.ts';
import type { Changes } from './change.ts';
import { untilLoaded } from './read-again.ts';

export type ItemPage = AnswerOf<'GET /jobs/:id/items'>;
export type ItemPages = InfiniteData<ItemPage, string | undefined>;

export const itemsPerPage = 200;
const pagesReadAnewMax = 2;
const itemsReadMax = 40;

export interface Refreshing {
  readonly queries: QueryClient;
  readonly client: Client;
  /** Rows beyond the limit are read next time. */
  readonly later: (jobId: string, itemId: number) => void;
}

export async function refreshItemLists(refreshing: Refreshing, changes: Changes): Promise<void> {
  const { queries, client, later } = refreshing;
  const lists = queries.getQueryCache().findAll({ queryKey: ['items'], type: 'active' });
  for (const { queryKey } of lists) {
    const jobId = String(queryKey[1]);
    if (!changes.jobs.has(jobId)) continue;
    await untilLoaded(queries, { queryKey, exact: true });
    const pages = queries.getQueryData<ItemPages>(queryKey);
    if (!pages) continue;
    if (pages.pages.length <= pagesReadAnewMax || changes.grown.has(jobId)) {
      await queries.invalidateQueries({ queryKey });
      continue;
    }
    const moved = changes.items.get(jobId) ?? new Set<number>();
    const shown = pages.pages.flatMap(({ items }) => items.map(({ item_id }) => item_id));
    const wanted = shown.filter((id) => moved.has(id));
    for (const id of wanted.slice(itemsReadMax)) later(jobId, id);
    const asked = wanted
      .slice(0, itemsReadMax)
      .map((id) => client.ask('GET /items/:id', { params: { id: String(id) } }));
    const items = new Map((await Promise.all(asked)).map((item) => [item.item_id, item]));
    const patch = (page: ItemPage): ItemPage => ({
      ...page,
      items: page.items.map((item) => items.get(item.item_id) ?? item),
    });
    queries.setQueryData<ItemPages>(
      queryKey,
      (now) => now && { ...now, pages: now.pages.map(patch) },
    );
  }
}
