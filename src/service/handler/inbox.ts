/** Failed documents by cause, and the actions on them. */

import type { Chosen } from '../../contract/schema/schema.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { listFailedOf, listFingerprints } from '../../store/item/inbox.ts';
import { getItem, getItems, type ItemRow } from '../../store/item/items.ts';
import { listHeldRuns } from '../../store/sync/runs.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import type { StoreHandlers, StoreService } from '../service.ts';
import { viewItems } from '../view/item.ts';
import { causeShape } from '../view/serializer.ts';
import { runShape } from '../view/source.ts';
import { fullName } from './jobs.ts';

export function inboxRoutes(service: StoreService) {
  const { database, commands } = service;
  return {
    'GET /items/:id': async ({ caller, params }) => {
      const row = await ownItem(service, caller.callerId, params.id);
      const [item] = await viewItems(service, [row]);
      if (item) return item;
      throw unknownItem(params.id);
    },
    'GET /inbox': async ({ caller, query }) => {
      const filter = await filterOf(service, caller.callerId, query);
      const limit = limitOf(query);
      const page = { ...filter, after: numberCursor(query) ?? 0, limit };
      const causes = await listFingerprints(database, { ...filter, limit: limits.event.pageMax });
      const rows = await listFailedOf(database, page);
      return {
        causes: causes.map(causeShape),
        items: await viewItems(service, rows),
        ...(await heldOf(service, caller.callerId)),
        ...nextPage(rows, limit, ({ id }) => id),
      };
    },
    'POST /inbox/retry': async ({ caller, body }) => {
      const retry = async (ids: readonly number[]) => {
        await checkWritable(service, caller.callerId, ids);
        return commands.retryItems(caller.callerId, ids);
      };
      return { retried: await forEachChosen(service, { caller: caller.callerId, body }, retry) };
    },
    'POST /inbox/discard': async ({ caller, body }) => {
      const discard = (ids: readonly number[]) => commands.discardItems(caller.callerId, ids);
      return {
        discarded: await forEachChosen(service, { caller: caller.callerId, body }, discard),
      };
    },
  } satisfies Partial<StoreHandlers>;
}

/** An item of another caller is answered as unknown. */
export async function ownItem(
  { database }: Pick<StoreService, 'database'>,
  caller: string,
  text: string,
): Promise<ItemRow> {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  const row = await getItem(database, id, caller);
  if (row) return row;
  throw unknownItem(text);
}

function unknownItem(id: string): Failure {
  return new Failure('item_unknown', `there is no item ${id}`);
}

/** Runs of sources whose removals wait for a person; absent if there are none. */
async function heldOf({ database }: StoreService, caller: string) {
  const held = await listHeldRuns(database, caller);
  if (held.length === 0) return {};
  return { held: await Promise.all(held.map((run) => runShape(database, run.name, run))) };
}

/** A cause is a code, or a code and a domain: `http_429@api.example.com`. */
async function filterOf(
  service: StoreService,
  caller: string,
  { cause, corpus_name }: { cause?: string | undefined; corpus_name?: string | undefined },
) {
  const [code, domain] = cause?.split('@') ?? [];
  return { caller, corpus: await fullName(service, caller, corpus_name), code, domain };
}

/** A caller that has lost write access to a corpus cannot retry there. */
async function checkWritable(
  { database, corpora }: StoreService,
  caller: string,
  ids: readonly number[],
): Promise<void> {
  const rows = await getItems(database, ids, caller);
  for (const name of new Set(rows.map(({ corpus }) => corpus))) {
    if (name.includes('@')) await corpora.find(caller, name, 'write');
  }
}

/**
 * Applies the action to the chosen items, in transactions of bounded size. Returns their number.
 */
async function forEachChosen(
  service: StoreService,
  { caller, body }: { caller: string; body: Chosen },
  act: (ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const { item_ids: ids, cause, all } = body;
  if ([ids, cause, all].filter((way) => way !== undefined).length !== 1) {
    throw new Failure('bad_request', 'name exactly one of item_ids, cause and all');
  }
  if (ids) return act(ids);
  const { database } = service;
  const filter = { ...(await filterOf(service, caller, body)), limit: limits.event.pageMax };
  let acted = 0;
  for (let after = 0, isFull = true; isFull; ) {
    const rows = await listFailedOf(database, { ...filter, after });
    if (rows.length > 0) acted += await act(rows.map(({ id }) => id));
    after = rows.at(-1)?.id ?? after;
    isFull = rows.length === filter.limit;
  }
  return acted;
}
