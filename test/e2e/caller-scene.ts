/** A service on an older store, with a strict Membership, and what its callers see. */
import assert from 'node:assert/strict';
import type { ServiceOptions } from '../../src/app/role/service.ts';
import { realWorld } from '../../src/app/world.ts';
import type { RouteName } from '../../src/contract/contract.ts';
import { hashed } from '../support/access-fixture.ts';
import { type MembershipServer, startMembership } from '../support/membership.ts';
import type { Belongings } from '../support/stores/open.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { type Asking, type Bench, openBench } from './api-client.ts';

export const internalKey = 'internal-0123456789-abcdefgh';

/** Keys that Membership knows, and their callers; null if it names none. */
export type Accounts = Record<string, string | null>;

export interface CallerScene extends Bench {
  readonly accounts: Accounts;
  readonly membership: MembershipServer;
  as(key: string): (name: RouteName, asking?: Asking) => Promise<Record<string, never>>;
  status(key: string, name: RouteName, asking?: Asking): Promise<number>;
  /** After the cache time of Membership responses. */
  later(): void;
}

export async function openCallers(
  t: Cleanup,
  { accounts, ...options }: Partial<ServiceOptions> & { accounts: Accounts },
): Promise<CallerScene> {
  const membership = await startMembership(t);
  membership.reply = (key) => {
    const question = membership.requests.at(-1);
    assert.equal(`${question?.method} ${question?.path}`, 'POST /auth');
    assert.equal(question?.contentType, 'application/json');
    assert.deepEqual(Object.keys(question?.body as object), ['api_key']);
    const account = accounts[key];
    if (account === undefined) return { status: 401 };
    return { status: 200, body: account === null ? '' : JSON.stringify({ caller_id: account }) };
  };
  let aheadMs = 0;
  const world = { ...realWorld(), now: () => Date.now() + aheadMs };
  const keys = { apiKeys: [hashed('ann-key-0001')], membershipUrl: membership.url, internalKey };
  const data = temporaryDirectory(t);
  const bench = await openBench(t, { data, world, keys, ...options });
  const ask = (key: string, name: RouteName, asking: Asking = {}) =>
    bench.ask(name, { ...asking, headers: { 'x-api-key': key, ...asking.headers } });
  return {
    ...bench,
    ...{ accounts, membership },
    as: (key) => async (name, asking) => {
      const { status, body } = await ask(key, name, asking);
      assert.ok(status < 300, `${name}: ${status} ${JSON.stringify(body)}`);
      return body as Record<string, never>;
    },
    status: async (key, name, asking) => (await ask(key, name, asking)).status,
    later: () => {
      aheadMs += 61_000;
    },
  };
}

type List = { readonly items: readonly Record<string, string>[] };

/** Everything that a key can read over HTTP, in the form in which the older store was recorded. */
export async function belongingsOf(
  { as }: Pick<CallerScene, 'as'>,
  key: string,
  corpus = 'handbook',
): Promise<Belongings> {
  const ask = as(key);
  const list = async (name: RouteName, asking?: Asking, id = ''): Promise<string[]> =>
    ((await ask(name, asking)) as unknown as List).items.map((item) => item[id] as string);
  const jobs = await list('GET /jobs', {}, 'job_id');
  for (const id of jobs) {
    assert.equal((await ask('GET /jobs/:id', { params: { id } })).job_id, id);
  }
  const documents = await list(
    'GET /corpora/:name/documents',
    { params: { name: corpus } },
    'document_id',
  );
  for (const id of documents) await ask('GET /documents/:id', { params: { id } });
  // All passages, also those of other birds.
  const body = { corpus_name: corpus, query: 'grey heron', near: true };
  const found = (await ask('POST /search', { body })) as unknown as {
    results: { chunk_id: string }[];
  };
  return {
    key,
    jobs,
    corpora: await list('GET /corpora', {}, 'name'),
    documents,
    chunks: found.results.map(({ chunk_id }) => chunk_id),
    inbox: (await list('GET /inbox', {}, 'item_id')).map(Number),
  };
}
