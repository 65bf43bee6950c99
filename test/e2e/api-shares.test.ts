/** A shared corpus: access rights and names. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RouteName } from '../../src/contract/contract.ts';
import { hashed, sha256 } from '../support/access-fixture.ts';
import type { Cleanup } from '../support/temporary.ts';
import { type Asking, openBench } from './api-client.ts';

const people = ['ann', 'bob', 'eve'] as const;
type Person = (typeof people)[number];
const keyOf = (person: Person): string => `${person}-key-of-some-length`;
const idOf = (person: Person): string => sha256(keyOf(person)).slice(0, 16);
const heron = { id: 'heron', text: 'The grey heron stands in the reeds.' };

interface Body extends Record<string, unknown> {
  readonly items: readonly { name: string; document_id: string; corpus_name: string }[];
}

async function setup(t: Cleanup) {
  const apiKeys = people.map((person) => `${hashed(keyOf(person))}`);
  const bench = await openBench(t, { keys: { apiKeys } });
  const as = async (person: Person, name: RouteName, asking: Asking = {}) => {
    const { status, body } = await bench.ask(name, {
      ...asking,
      headers: { 'x-api-key': keyOf(person) },
    });
    return { status, body: body as Body };
  };
  const ingest = async (person: Person, corpus_name: string, documents: object[]) => {
    const { status, body } = await as(person, 'POST /jobs', { body: { corpus_name, documents } });
    if (status !== 202) return { status, body };
    const url = `${bench.service.address}/jobs/${body.job_id}/stream`;
    await (await fetch(url, { headers: { 'x-api-key': keyOf(person) } })).text();
    return { status, body };
  };
  const share = (guest: Person, access: 'read' | 'write', name = 'notes') =>
    as('ann', 'PUT /corpora/:name/shares/:caller', {
      params: { name, caller: idOf(guest) },
      body: { access },
    });
  const search = (person: Person, corpus_name: string, query = 'grey heron') =>
    as(person, 'POST /search', { body: { corpus_name, query } });
  const names = async (person: Person): Promise<string[]> =>
    (await as(person, 'GET /corpora')).body.items.map(({ name }) => name);
  await ingest('ann', 'notes', [heron]);
  return { ...bench, as, ingest, share, search, names };
}

type Found = { results: { source_url: string }[] };
const sources = (body: unknown): string[] =>
  (body as Found).results.map(({ source_url }) => source_url);

describe('a shared corpus', () => {
  const full = `notes@${idOf('ann')}`;

  test('is visible to the callers that it is shared with, and to no other', async (t) => {
    const { as, share, search, names } = await setup(t);
    assert.equal((await search('bob', 'notes')).status, 404);
    assert.equal((await share('bob', 'read')).status, 200);
    for (const name of ['notes', full]) {
      assert.deepEqual(sources((await search('bob', name)).body), ['inline:heron'], name);
      const listed = await as('bob', 'GET /corpora/:name/documents', { params: { name } });
      assert.equal(listed.body.items[0]?.corpus_name, full);
      const query = { corpus_name: name, url: 'inline:heron' };
      assert.equal((await as('bob', 'GET /why', { query })).body.verdict, 'searchable');
    }
    assert.deepEqual([await names('bob'), await names('eve')], [[full], []]);
    for (const name of ['notes', full]) {
      assert.equal((await search('eve', name)).status, 404);
      for (const route of ['GET /corpora/:name', 'GET /corpora/:name/shares'] as const) {
        assert.equal((await as('eve', route, { params: { name } })).status, 404, route);
      }
      const put = { params: { name, caller: idOf('eve') }, body: { access: 'write' } };
      assert.equal((await as('eve', 'PUT /corpora/:name/shares/:caller', put)).status, 404);
    }
    const taken = { params: { name: 'notes', caller: idOf('bob') } };
    assert.equal(
      (await as('ann', 'DELETE /corpora/:name/shares/:caller', taken)).body.removed,
      true,
    );
    assert.equal((await search('bob', full)).status, 404);
    assert.deepEqual(await names('bob'), []);
  });

  test('may only be read by a reader', async (t) => {
    const { as, ingest, share } = await setup(t);
    await share('bob', 'read');
    const detail = await as('bob', 'GET /corpora/:name', { params: { name: full } });
    assert.deepEqual([detail.body.access, detail.body.shares], ['read', []]);
    assert.equal((await ingest('bob', full, [{ id: 'x', text: 'A word.' }])).status, 403);
    const list = await as('bob', 'GET /corpora/:name/documents', { params: { name: full } });
    const [document] = list.body.items;
    const params = { id: document?.document_id ?? '' };
    assert.equal((await as('bob', 'GET /documents/:id', { params })).status, 200);
    assert.equal((await as('bob', 'DELETE /documents/:id', { params })).status, 403);
    const many = { params: { name: full }, body: { document_ids: [params.id] } };
    assert.equal((await as('bob', 'POST /corpora/:name/documents/delete', many)).status, 403);
    for (const route of ['DELETE /corpora/:name', 'GET /corpora/:name/shares'] as const) {
      assert.equal((await as('bob', route, { params: { name: full } })).status, 403, route);
    }
    assert.equal((await as('eve', 'GET /documents/:id', { params })).status, 404);
  });

  test('owns the documents of a writer, while the job belongs to the writer', async (t) => {
    const { as, ingest, share, search } = await setup(t);
    await share('bob', 'write');
    const toad = { id: 'toad', text: 'A common toad sits under a stone.' };
    const { status, body } = await ingest('bob', full, [toad]);
    assert.equal(status, 202);
    assert.deepEqual(sources((await search('ann', 'notes', 'common toad')).body)[0], 'inline:toad');
    const params = { id: String(body.job_id) };
    const job = await as('bob', 'GET /jobs/:id', { params });
    assert.deepEqual([job.body.state, job.body.corpus_name], ['succeeded', full]);
    assert.equal((await as('ann', 'GET /jobs/:id', { params })).status, 404);
    const mine = await as('bob', 'GET /jobs', { query: { corpus_name: full } });
    assert.equal(mine.body.items.length, 1);
    const listed = await as('ann', 'GET /corpora/:name/documents', { params: { name: 'notes' } });
    const documents = listed.body.items;
    assert.deepEqual(
      documents.map(({ corpus_name }) => corpus_name),
      ['notes', 'notes'],
    );
    // The same source again, from the owner, is the same document.
    await ingest('ann', 'notes', [{ ...toad, text: 'A common toad sits under a log.' }]);
    const after = await as('ann', 'GET /corpora/:name/documents', { params: { name: 'notes' } });
    assert.equal(after.body.items.length, 2);
    const [id = '', ...rest] = documents.map(({ document_id }) => document_id);
    assert.equal((await as('bob', 'DELETE /documents/:id', { params: { id } })).status, 200);
    const many = { params: { name: full }, body: { document_ids: rest } };
    const deleted = await as('bob', 'POST /corpora/:name/documents/delete', many);
    assert.deepEqual(deleted.body, { name: full, deleted: 1 });
    assert.deepEqual(sources((await search('ann', 'notes')).body), []);
  });

  test('is never chosen by its short name if a new corpus was meant', async (t) => {
    const { ingest, share, search, names } = await setup(t);
    await share('bob', 'write');
    const text = { id: 'secret', text: 'A secret of bob about a grey heron.' };
    const refused = await ingest('bob', 'notes', [text]);
    assert.deepEqual([refused.status, refused.body.code], [409, 'corpus_ambiguous']);
    assert.match(String(refused.body.detail), new RegExp(`${full}.*notes@${idOf('bob')}`));
    assert.equal((await ingest('bob', `notes@${idOf('bob')}`, [text])).status, 202);
    assert.deepEqual(sources((await search('bob', 'notes')).body), ['inline:secret']);
    assert.deepEqual(sources((await search('bob', full)).body), ['inline:heron']);
    assert.deepEqual(sources((await search('ann', 'notes')).body), ['inline:heron']);
    assert.deepEqual(await names('bob'), ['notes', full]);
    // From now on the short name is Bob's own corpus.
    assert.equal((await ingest('bob', 'notes', [text])).status, 202);
  });

  test('is not deleted by a writer, and is gone for all when its owner deletes it', async (t) => {
    const { as, share, search, names } = await setup(t);
    await share('bob', 'write');
    const params = { name: 'notes' };
    assert.equal((await as('ann', 'DELETE /corpora/:name', { params })).body.deleted, 1);
    assert.equal((await search('bob', full)).status, 404);
    assert.deepEqual(await names('bob'), []);
  });
});
