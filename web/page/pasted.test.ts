import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileOfText, readingOf, readPasted, titleOf } from './pasted.ts';

const table = [
  ['https://example.org/a', 'addresses'],
  ['example.org/handbook\nhttps://example.org/b', 'addresses'],
  ['www.example.org', 'addresses'],
  ['https://example.org/lost\nnot an address', 'addresses'],
  ['The heron waits at the weir.', 'text'],
  ['# Herons\n\nSee https://example.org for more.\nThey wait.', 'text'],
  ['heron', 'text'],
] as const;

for (const [text, reading] of table) {
  test(`reads ${JSON.stringify(text)} as ${reading}`, () => {
    assert.equal(readingOf(text), reading);
  });
}

test('a choice wins, and nothing is nothing', () => {
  assert.deepEqual(readPasted('https://example.org', 'text'), { reading: 'text', checked: [] });
  assert.deepEqual(readPasted(' \n', undefined), { reading: 'addresses', checked: [] });
  assert.equal(readPasted('heron', 'addresses').checked[0]?.verdict, 'refused');
});

test('a text is named after its title', () => {
  assert.equal(titleOf('\n# Herons at the weir\n\nThey wait.'), 'Herons at the weir');
  assert.equal(fileOfText('They wait.', ' a/b\tc ').name, 'a b c.md');
  assert.equal(fileOfText('They wait.', '').name, 'Text.md');
});
