/** Callers and shares of a remote service. */
import type { CallerClient } from '../access/caller-client.ts';
import type { Client } from '../client/http.ts';
import type { PawlClient } from './pawl-client.ts';

const at = (time: string): number => Date.parse(time);

export function remoteCallers(client: Client): CallerClient {
  const keyed = (id: string, hash: string, isConfirmed: boolean | undefined) => ({
    params: { id, hash },
    query: { confirm: isConfirmed ? ('true' as const) : undefined },
  });
  return {
    list: async ({ after, limit }) => {
      const query = { cursor: after || undefined, limit };
      const { items } = await client.ask('GET /callers', { query });
      return items.map(({ caller_id: id, created_at, ...row }) => ({
        id,
        ...row,
        created_at: at(created_at),
      }));
    },
    show: async (id) => {
      const found = await client.ask('GET /callers/:id', { params: { id } });
      const { caller_id, created_at, identities, ...row } = found;
      return {
        id: caller_id,
        ...row,
        created_at: at(created_at),
        identities: identities.map((each) => ({
          ...each,
          caller: caller_id,
          created_at: at(each.created_at),
        })),
      };
    },
    link: async (id, hash, { isConfirmed } = {}) => {
      await client.ask('PUT /callers/:id/keys/:hash', keyed(id, hash, isConfirmed));
    },
    unlink: async (id, hash, { isConfirmed } = {}) => {
      await client.ask('DELETE /callers/:id/keys/:hash', keyed(id, hash, isConfirmed));
    },
    move: (id, to, { corpus: corpus_name } = {}) =>
      client.ask('POST /callers/:id/move', { params: { id }, body: { to, corpus_name } }),
  };
}

export function remoteShares(client: Client) {
  return {
    shares: async (name) => {
      const { items } = await client.ask('GET /corpora/:name/shares', { params: { name } });
      return items.map(({ caller_id: caller, created_at, ...row }) => ({
        caller,
        ...row,
        created_at: at(created_at),
      }));
    },
    share: async (name, caller, access = 'read') => {
      const asking = { params: { name, caller }, body: { access } };
      await client.ask('PUT /corpora/:name/shares/:caller', asking);
    },
    unshare: async (name, caller) => {
      const params = { name, caller };
      return (await client.ask('DELETE /corpora/:name/shares/:caller', { params })).removed;
    },
  } satisfies Partial<PawlClient>;
}
