/** Options of the library as requests of the contract. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Search } from '../../contract/schema/schema.ts';
import { Type } from '../../contract/schema/type.ts';
import { checkerFor } from '../../contract/wrong-value.ts';
import { type Asked, requestOf } from './request.ts';

const read = (given: unknown, more: Partial<Asked> = {}, schema: TSchema = Search) =>
  requestOf(schema, { what: 'search', given, ...more }, checkerFor);
const fixed = { corpus_name: 'notes', query: 'tides' };

describe('the options of a call', () => {
  test('are sent under the names of the contract, without those that are undefined', () => {
    const given = { topK: 3, mode: undefined, filter: { documentId: 'd', updatedFrom: '2026' } };
    const filter = { document_id: 'd', updated_from: '2026' };
    assert.deepEqual(read(given, { fixed }), { ...fixed, top_k: 3, filter });
  });

  test('with an unknown name are refused, with the closest known one', () => {
    const refusals = [
      [{ topk: 3 }, 'topk is not an option of search; the closest one is topK'],
      [{ top_k: 3 }, 'top_k is not an option of search; the closest one is topK'],
      [
        { filter: { hots: 'a' } },
        'hots is not an option of search.filter; the closest one is host',
      ],
      [{ sinal: 1 }, 'sinal is not an option of search; the closest one is signal'],
    ] as const;
    for (const [given, message] of refusals) {
      const asked = { fixed, own: ['signal'] };
      assert.throws(() => read(given, asked), { name: 'Failure', code: 'bad_request', message });
    }
  });

  test('cannot replace an argument of the call', () => {
    assert.throws(() => read({ query: 'moon' }, { fixed }), { message: /query is not an option/ });
  });

  test('with a wrong value are refused under the name that the user wrote', () => {
    const refusals = [
      [{ topK: 1000 }, /^topK must be <= \d+$/],
      [{ mode: 'fuzzy' }, /^mode must be one of hybrid, vector, keyword$/],
      [{ filter: { documentId: 7 } }, /^filter\.documentId must be string$/],
      [null, /^the options of search are an object, not null$/],
      ['topK', /^the options of search are an object, not string$/],
    ] as const;
    for (const [given, message] of refusals) {
      assert.throws(() => read(given, { fixed }), { code: 'bad_request', message });
    }
  });

  test('keep the keys of records, and call the corpus `corpus`', () => {
    const schema = Type.Object(
      { corpus_name: Type.String(), user_metadata: Type.Record(Type.String(), Type.Unknown()) },
      { additionalProperties: false },
    );
    const given = { corpus: 'notes', userMetadata: { tenantId: 't', a_b: { cD: 1 } } };
    const request = { corpus_name: 'notes', user_metadata: { tenantId: 't', a_b: { cD: 1 } } };
    assert.deepEqual(read(given, {}, schema), request);
  });
});
