/**
 * The documents of a job: failed ones first, then those being worked on, then the others. A short
 * job is read as a whole and sorted here. A long one is read state by state.
 */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Client } from '../../src/client/http.ts';
import type { QueryOf } from '../../src/contract/contract.ts';
import type { Item, JobDetail } from '../../src/contract/schema/schema.ts';
import { place } from '../../src/kernel/lifecycle/item-wait.ts';
import { type Station, stationOf, stepsOf } from '../part/pipeline.ts';
import { useWorkbench } from '../workbench.ts';
import { type ItemPage, itemsPerPage } from './item-list.ts';

type ItemState = NonNullable<QueryOf<'GET /jobs/:id/items'>['state']>;

const attentionOrder = ['failed', 'working', 'waiting', 'done', 'canceled'] as const;

export function stateOf({ step, waits_on }: Item): (typeof attentionOrder)[number] {
  if (waits_on !== null) return waits_on === place.worker ? 'working' : 'waiting';
  return attentionOrder.find((state) => state === step) ?? 'waiting';
}

const rankOf = (item: Item): number => attentionOrder.indexOf(stateOf(item));

export function useJobItems(job: JobDetail, at: Station | undefined) {
  const { client } = useWorkbench();
  const isShort = job.items_total <= itemsPerPage;
  const states = at === undefined ? attentionOrder : (stepsOf(at) as readonly ItemState[]);
  const query = useInfiniteQuery({
    queryKey: ['items', job.job_id, isShort ? 'all' : (at ?? 'by state')],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const asked = { client: client(), id: job.job_id, signal };
      return isShort
        ? readPage(asked, { cursor: pageParam })
        : readStates(asked, states, placeIn(pageParam));
    },
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const { data } = query;
  const rows = useMemo(() => {
    const all = data?.pages.flatMap(({ items }) => items) ?? [];
    // A document that moves between two requests may be in both.
    const once = [...new Map(all.map((item) => [item.item_id, item])).values()];
    if (!isShort) return once;
    const shown = once.filter(({ step }) => at === undefined || stationOf(step) === at);
    return shown.sort((a, b) => rankOf(a) - rankOf(b) || a.item_id - b.item_id);
  }, [data, isShort, at]);
  return { ...query, rows };
}

interface Asked {
  readonly client: Client;
  readonly id: string;
  readonly signal: AbortSignal;
}

function readPage(
  { client, id, signal }: Asked,
  query: QueryOf<'GET /jobs/:id/items'>,
): Promise<ItemPage> {
  const asked = { params: { id }, query: { limit: itemsPerPage, ...query }, signal };
  return client.ask('GET /jobs/:id/items', asked);
}

interface Place {
  readonly state: number;
  readonly cursor: string | undefined;
}

const placeIn = (text: string | undefined): Place => {
  const [state = '0', cursor = ''] = text?.split(':') ?? [];
  return { state: Number(state), cursor: cursor || undefined };
};

/** Fills a page from as many states as it takes. Its cursor names the state and the place in it. */
async function readStates(
  asked: Asked,
  states: readonly ItemState[],
  from: Place,
): Promise<ItemPage> {
  const items: Item[] = [];
  let { state: index, cursor } = from;
  while (items.length < itemsPerPage) {
    const state = states[index];
    if (state === undefined) return { items, next_cursor: null };
    const page = await readPage(asked, { state, cursor, limit: itemsPerPage - items.length });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined) index += 1;
  }
  return { items, next_cursor: `${index}:${cursor ?? ''}` };
}
