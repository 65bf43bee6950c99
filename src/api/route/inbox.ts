/** Failed documents: by cause, and what to do about them. */
import { Failure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import { listFailedOf, listFingerprints } from '../../store/inbox.ts';
import { getItem } from '../../store/items.ts';
import { limitOf, nextCursor, numberCursor } from '../cursor.ts';
import { viewItems } from '../item-views.ts';
import type { Chosen } from '../schema.ts';
import type { Handlers, Service } from '../service.ts';
import { causeShape } from '../shape.ts';

export function inboxRoutes(service: Service) {
  const { database, commands } = service;
  return {
    'GET /items/:id': async ({ caller, params }) => {
      const id = /^\d{1,16}$/.test(params.id) ? Number(params.id) : 0;
      const row = await getItem(database, id, caller.callerId);
      const [item] = row ? await viewItems(service, [row]) : [];
      if (item) return item;
      throw new Failure('item_unknown', `there is no item ${params.id}`);
    },
    'GET /inbox': async ({ caller, query }) => {
      const filter = filterOf(caller.callerId, query);
      const limit = limitOf(query);
      const page = { ...filter, after: numberCursor(query) ?? 0, limit };
      const causes = await listFingerprints(database, { ...filter, limit: limits.event.pageMax });
      const rows = await listFailedOf(database, page);
      return {
        causes: causes.map(causeShape),
        items: await viewItems(service, rows),
        next_cursor: nextCursor(rows, limit, ({ id }) => id),
      };
    },
    'POST /inbox/retry': async ({ caller, body }) => {
      const retry = (ids: readonly number[]) => commands.retryItems(caller.callerId, ids);
      return { retried: await forEachChosen(service, { caller: caller.callerId, body }, retry) };
    },
    'POST /inbox/discard': async ({ caller, body }) => {
      const discard = (ids: readonly number[]) => commands.discardItems(caller.callerId, ids);
      return {
        discarded: await forEachChosen(service, { caller: caller.callerId, body }, discard),
      };
    },
  } satisfies Partial<Handlers>;
}

/** A cause is a code, or a code and a domain: `http_429@api.example.com`. */
function filterOf(
  caller: string,
  { cause, corpus_name: corpus }: { cause?: string | undefined; corpus_name?: string | undefined },
) {
  const [code, domain] = cause?.split('@') ?? [];
  return { caller, corpus, code, domain };
}

/** Acts on what was chosen, a bounded number in each transaction. Returns how many it were. */
async function forEachChosen(
  { database }: Service,
  { caller, body }: { caller: string; body: Chosen },
  act: (ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const { item_ids: ids, cause, all } = body;
  if ([ids, cause, all].filter((way) => way !== undefined).length !== 1) {
    throw new Failure('bad_request', 'name exactly one of item_ids, cause and all');
  }
  if (ids) return act(ids);
  const filter = { ...filterOf(caller, body), limit: limits.event.pageMax };
  let acted = 0;
  for (let after = 0, isFull = true; isFull; ) {
    const rows = await listFailedOf(database, { ...filter, after });
    if (rows.length > 0) acted += await act(rows.map(({ id }) => id));
    after = rows.at(-1)?.id ?? after;
    isFull = rows.length === filter.limit;
  }
  return acted;
}
