/** Keys rotate and Membership starts to name callers: owners keep what they own. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ServiceOptions } from '../../src/app/role/service.ts';
import { hashed, sha256 } from '../support/access-fixture.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { type Belongings, belongingsIn, copyPostgres, copySqlite } from '../support/stores/open.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { belongingsOf, type CallerScene, internalKey, openCallers } from './caller-scene.ts';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

type Store = Pick<ServiceOptions, 'data' | 'database'>;
const stores = {
  sqlite: async (t: Cleanup): Promise<Store> => {
    const data = temporaryDirectory(t);
    copySqlite(data);
    return { data };
  },
  postgres: async (t: Cleanup): Promise<Store> => ({
    data: temporaryDirectory(t),
    database: await copyPostgres(postgres),
  }),
};

const accounts = () => ({
  'dave-key-0001': null,
  'dave-key-0002': null,
  'erin-key-0001': null,
  'carol-key-0001': 'acct_carol',
});

const withKey = (had: Belongings, key: string): Belongings => ({ ...had, key });
const idOf = (key: string): string => sha256(key).slice(0, 16);

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`an older store on ${kind}`, () => {
    const had = belongingsIn(kind);
    const open = async (t: Cleanup, options: Partial<ServiceOptions> = {}): Promise<CallerScene> =>
      openCallers(t, { ...(await stores[kind](t)), ...options, accounts: accounts() });
    const shown = async ({ as }: CallerScene, key: string): Promise<string> => {
      const { caller } = await as(key)('GET /system');
      return (caller as unknown as { caller_id: string }).caller_id;
    };

    test('shows every caller its data', async (t) => {
      const scene = await open(t);
      for (const { key, ...rest } of Object.values(had)) {
        assert.deepEqual(await belongingsOf(scene, key), { key, ...rest });
      }
      assert.equal(await shown(scene, had.dave.key), idOf(had.dave.key));
      assert.equal(await shown(scene, had.carol.key), 'acct_carol');
    });

    test('keeps the data of a key when Membership starts to name it', async (t) => {
      const scene = await open(t);
      assert.deepEqual(await belongingsOf(scene, had.dave.key), had.dave);
      scene.accounts[had.dave.key] = 'acct_dave';
      scene.later();
      assert.deepEqual(await belongingsOf(scene, had.dave.key), had.dave);
      assert.equal(await shown(scene, had.dave.key), 'acct_dave');
      scene.accounts['dave-key-0002'] = 'acct_dave';
      assert.deepEqual(
        await belongingsOf(scene, 'dave-key-0002'),
        withKey(had.dave, 'dave-key-0002'),
      );
      delete scene.accounts[had.dave.key];
      scene.later();
      assert.equal(await scene.status(had.dave.key, 'GET /jobs'), 401);
      assert.deepEqual(
        await belongingsOf(scene, 'dave-key-0002'),
        withKey(had.dave, 'dave-key-0002'),
      );
    });

    test('merges the data of two keys that belong to one account', async (t) => {
      const scene = await open(t);
      scene.accounts[had.dave.key] = 'acct_dave';
      await belongingsOf(scene, had.dave.key);
      scene.accounts[had.erin.key] = 'acct_dave';
      const both = await belongingsOf(scene, had.erin.key);
      const erin = idOf(had.erin.key);
      const sorted = (ids: readonly string[]): string[] => [...ids].sort();
      assert.deepEqual(sorted(both.jobs), sorted([...had.dave.jobs, ...had.erin.jobs]));
      assert.deepEqual(both.corpora, [
        ...had.dave.corpora,
        ...had.erin.corpora.map((name) => `${name}@${erin}`),
      ]);
      assert.deepEqual(both.inbox, [...had.dave.inbox, ...had.erin.inbox]);
      assert.deepEqual([both.documents, both.chunks], [had.dave.documents, had.dave.chunks]);
      const second = await belongingsOf(scene, had.dave.key, `handbook@${erin}`);
      assert.deepEqual([second.documents, second.chunks], [had.erin.documents, had.erin.chunks]);
      // A name that only one of them used needs no suffix.
      assert.deepEqual(
        (await belongingsOf(scene, had.dave.key, 'erin-notes')).jobs.length,
        both.jobs.length,
      );
    });

    test('supports key rotation, by a name or by a link', async (t) => {
      const store = await stores[kind](t);
      const ann = idOf(had.ann.key);
      const named = await openCallers(t, {
        ...{ ...store, accounts: {}, work: false },
        keys: { apiKeys: [hashed(had.ann.key), `${ann}=${hashed('ann-key-0002')}`], internalKey },
      });
      assert.deepEqual(await belongingsOf(named, 'ann-key-0002'), withKey(had.ann, 'ann-key-0002'));
      await named.service.close();
      const linked = await openCallers(t, {
        ...{ ...store, accounts: {}, work: false },
        keys: { apiKeys: [hashed('ann-key-0002'), hashed('ann-key-0003')], internalKey },
      });
      assert.deepEqual((await linked.as('ann-key-0003')('GET /jobs')).items, []);
      const params = { id: ann, hash: hashed('ann-key-0003') };
      await linked.as(internalKey)('PUT /callers/:id/keys/:hash', { params });
      assert.deepEqual(
        await belongingsOf(linked, 'ann-key-0003'),
        withKey(had.ann, 'ann-key-0003'),
      );
      assert.equal(await shown(linked, 'ann-key-0003'), ann);
    });
  });
}
