import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../kernel/limits.ts';
import { entitiesOf } from './entity.ts';

test('mails, addresses, dates and names are found, each counted', () => {
  const text =
    'Ada Lovelace wrote to Charles Babbage on 1843-07-10. Ada Lovelace: ada@example.org, ' +
    'see https://example.org/notes (and "https://example.org/notes").';
  assert.deepEqual(entitiesOf(text), [
    { kind: 'email', name: 'ada@example.org', mentions: 1 },
    { kind: 'url', name: 'https://example.org/notes', mentions: 2 },
    { kind: 'date', name: '1843-07-10', mentions: 1 },
    { kind: 'name', name: 'Ada Lovelace', mentions: 2 },
    { kind: 'name', name: 'Charles Babbage', mentions: 1 },
  ]);
});

test('a single capitalised word is no name', () => {
  assert.deepEqual(entitiesOf('The walrus sleeps. Then it wakes.'), []);
});

test('a name may begin or end with a letter beyond ASCII', () => {
  const names = entitiesOf('we met Élodie Durand and René Descartés there').map(({ name }) => name);
  assert.deepEqual(names, ['Élodie Durand', 'René Descartés']);
});

test('no document has more entities than the bound', () => {
  const count = limits.document.entitiesMax + 500;
  const text = Array.from({ length: count }, (_, index) => `user${index}@example.org`).join(' ');
  assert.equal(entitiesOf(text).length, limits.document.entitiesMax);
});

describe('a megabyte of hostile text takes seconds at most', () => {
  const hostile: Readonly<Record<string, string>> = {
    'one long word': 'a'.repeat(1_000_000),
    'half mails': 'a@'.repeat(500_000),
    'a domain without end': `a@b${'.c'.repeat(500_000)}.`,
    'capitals without end': 'Aa '.repeat(333_333),
    'one long name': `A${'a'.repeat(1_000_000)}`,
    'half addresses': 'http://'.repeat(143_000),
    'half dates': '1234-'.repeat(200_000),
    'signs alone': '+'.repeat(1_000_000),
  };
  for (const [what, text] of Object.entries(hostile)) {
    test(what, () => {
      const start = process.cpuUsage();
      entitiesOf(text);
      const durationMs = process.cpuUsage(start).user / 1000;
      assert.ok(durationMs < 8000, `took ${Math.round(durationMs)} ms`);
    });
  }
});
