/** Callers and their keys, for operators; and the shares of corpora, for owners. */

import { type CallerView, viewCaller } from '../../access/caller-view.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { listCallers } from '../../store/caller/callers.ts';
import { listShares } from '../../store/corpus/access.ts';
import { limitOf, nextPage } from '../cursor.ts';
import type { StoreAsk, StoreHandlers, StoreService } from '../service.ts';
import { shareShape, timeOf } from '../view/serializer.ts';
import { ownCorpus } from './corpora.ts';

export function callerRoutes(service: StoreService) {
  const { database, callers, audit } = service;
  /** The next read in this process sees the change. */
  const changed = (): void => {
    service.directory?.forget();
    service.corpora.forget();
  };
  return {
    'GET /callers': async ({ query }) => {
      const limit = limitOf(query);
      const rows = await listCallers(database, { after: query.cursor ?? '', limit });
      const items = rows.map(({ id, name, keys, jobs, created_at }) => ({
        caller_id: id,
        name,
        keys,
        jobs,
        created_at: timeOf(created_at),
      }));
      return { items, ...nextPage(rows, limit, ({ id }) => id) };
    },
    'GET /callers/:id': async ({ params }) => callerShape(await viewCaller(database, params.id)),
    'PUT /callers/:id/keys/:hash': async ({ caller, params, query }) => {
      const isConfirmed = query.confirm === 'true';
      const { id } = await callers.link(params.id, params.hash, { isConfirmed });
      changed();
      const subject = params.hash.replace(/^sha256:/i, '').slice(0, 16);
      audit.emit('caller_linked', caller, { caller: id, identity: 'key', subject });
      return callerShape(await viewCaller(database, id));
    },
    'DELETE /callers/:id/keys/:hash': async ({ caller, params, query }) => {
      const isConfirmed = query.confirm === 'true';
      const { id } = await callers.unlink(params.id, params.hash, { isConfirmed });
      changed();
      const subject = params.hash.replace(/^sha256:/i, '').slice(0, 16);
      audit.emit('caller_unlinked', caller, { caller: id, identity: 'key', subject });
      return callerShape(await viewCaller(database, id));
    },
    'POST /callers/:id/move': async ({ caller, params, body }) => {
      const corpus = body.corpus_name;
      const moved = await callers.move(params.id, body.to, { corpus });
      changed();
      const { from, to } = moved;
      audit.emit('corpus_moved', caller, { caller: to, from, corpus_name: corpus ?? null });
      return { ...moved };
    },
  } satisfies Partial<StoreHandlers>;
}

export function shareRoutes(service: StoreService) {
  const { database, audit, callers, corpora } = service;
  return {
    'GET /corpora/:name/shares': async ({ caller, params }) => {
      const { place } = await ownCorpus(service, caller.callerId, params.name, 'own');
      return { items: (await listShares(database, place)).map(shareShape) };
    },
    'PUT /corpora/:name/shares/:caller': async (ask) => {
      const { share, name } = await shareOf(service, ask);
      const { access } = ask.body;
      const guest = await callers.share(share, access);
      corpora.forget();
      const shared = { corpus_name: name, with: guest.name ?? guest.id, access };
      audit.emit('corpus_shared', ask.caller, shared);
      const rows = await listShares(database, share.place);
      const [row] = rows.filter(({ caller }) => caller === guest.id);
      const now = { caller: guest.id, name: guest.name, access, created_at: database.now() };
      return shareShape(row ?? now);
    },
    'DELETE /corpora/:name/shares/:caller': async (ask) => {
      const { share, name } = await shareOf(service, ask);
      const removed = await callers.unshare(share);
      corpora.forget();
      if (removed)
        audit.emit('corpus_unshared', ask.caller, { corpus_name: name, with: share.guest });
      return { caller_id: share.guest, removed };
    },
  } satisfies Partial<StoreHandlers>;
}

type ShareAsk = Pick<StoreAsk<'DELETE /corpora/:name/shares/:caller'>, 'caller' | 'params'>;

async function shareOf(service: StoreService, { caller: { callerId: owner }, params }: ShareAsk) {
  const { place, row } = await ownCorpus(service, owner, params.name, 'own');
  return { share: { owner, place, guest: params.caller }, name: row.name };
}

function callerShape({ id, name, created_at, identities, corpora }: CallerView) {
  return {
    caller_id: id,
    name,
    created_at: timeOf(created_at),
    identities: identities.map(({ kind, subject, created_at: at }) => ({
      kind,
      subject,
      created_at: timeOf(at),
    })),
    corpora: corpora.slice(0, limits.request.entitiesMax),
  };
}
