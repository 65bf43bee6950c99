import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../limits/limits.ts';
import { checkMetadata, keepValid, mergeTexts, metadataText } from './metadata.ts';

describe('metadata', () => {
  test('has strings, numbers, booleans and lists of strings', () => {
    const metadata = { team: 'ops', year: 2025, 'is.draft': false, tags: ['a', 'b'], größe: 1 };
    assert.deepEqual(checkMetadata(metadata), metadata);
  });

  const refusals: readonly [unknown, RegExp][] = [
    ['team', /must be an object/],
    [[], /must be an object/],
    [null, /must be an object/],
    [{ '': 1 }, /the key "" must have 1 to 64 letters/],
    [{ $team: 1 }, /the key "\$team" must have/],
    [JSON.parse('{"__proto__": "ops"}'), /the key "__proto__" must have/],
    [{ team: null }, /"team" must have a string, a number, true, false or a list of strings/],
    [{ team: { name: 'ops' } }, /"team" must have a string/],
    [{ years: [2024, 2025] }, /"years" must have a string/],
    [{ year: Number.NaN }, /finite/],
    [{ team: 'x'.repeat(limits.metadata.textCharactersMax + 1) }, /501 characters; use up to 500/],
    [{ team: 'a\0b' }, /NUL/],
    [{ team: '\ud800' }, /surrogate/],
    [{ tags: Array(limits.metadata.listMax + 1).fill('a') }, /101 entries; use up to 100/],
    [Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, n])), /65 keys/],
    [
      Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, 'x'.repeat(490)])),
      /bytes as JSON/,
    ],
  ];
  for (const [given, reason] of refusals) {
    test(`is refused: ${JSON.stringify(given)?.slice(0, 60)}`, () => {
      assert.throws(() => checkMetadata(given), reason);
    });
  }

  test('of a document keeps what is valid, and leaves out the rest', () => {
    const fields = { team: 'ops', nested: { a: 1 }, '2nd': 1, none: null, tags: ['a'] };
    assert.deepEqual(keepValid(fields), { team: 'ops', tags: ['a'] });
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, n]));
    assert.equal(Object.keys(keepValid(many)).length, limits.metadata.keysMax);
    const long = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`k${n}`, 'x'.repeat(490)]),
    );
    assert.ok(JSON.stringify(keepValid(long)).length <= limits.metadata.bytesMax);
  });

  test('is the same text in any order of its keys', () => {
    assert.equal(metadataText({ b: 1, a: 'x' }), metadataText({ a: 'x', b: 1 }));
    assert.equal(metadataText({}), null);
  });

  test('is merged key by key, and the later one wins', () => {
    assert.equal(mergeTexts('{"a":1,"b":1}', null, '{"b":2}'), '{"a":1,"b":2}');
    assert.equal(mergeTexts(undefined, null), null);
  });
});
