/** The deletion of many documents of a corpus by one request. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Document } from '../../src/contract/schema/schema.ts';
import { openBench } from './api-client.ts';

describe('the deletion of many documents', () => {
  test('deletes those of the corpus, skips all others, and can be repeated', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const documents = ['a', 'b', 'c'].map((id) => ({ id, text: `The heron ${id} stands.` }));
    const idsOf = async (name: string): Promise<string[]> => {
      const route = 'GET /corpora/:name/documents';
      const { body } = await ask<{ items: readonly Document[] }>(route, { params: { name } });
      return body.items.map(({ document_id }) => document_id);
    };
    for (const corpus_name of ['birds', 'others'])
      await ended(await submit({ corpus_name, documents }));
    const [first = '', second = '', third = ''] = await idsOf('birds');
    const [foreign = ''] = await idsOf('others');
    const asking = {
      params: { name: 'birds' },
      body: { document_ids: [first, second, second, foreign, 'nothing'] },
    };
    const route = 'POST /corpora/:name/documents/delete';
    assert.deepEqual((await ask(route, asking)).body, { name: 'birds', deleted: 2 });
    assert.deepEqual((await ask(route, asking)).body, { name: 'birds', deleted: 0 });
    assert.deepEqual(await idsOf('birds'), [third]);
    assert.equal((await idsOf('others')).length, 3);
    const none = await ask(route, { ...asking, body: { document_ids: [] } });
    assert.deepEqual([none.status, none.body.code], [400, 'bad_request']);
  });
});
