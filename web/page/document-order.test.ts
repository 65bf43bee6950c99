import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arranged } from './document-order.ts';

const documents = ['zebra', 'Äpfel', 'Ölkanne', 'apfel 10', 'apfel 9', null].map(
  (title, index) => ({
    title,
    source_url: `https://example.org/Straße/${index}`,
    updated_at: `2026-01-0${index + 1}T00:00:00Z`,
    text_bytes: index,
  }),
);
const titles = (find: string, order: 'stored' | 'title' | 'newest' | 'largest') =>
  arranged(documents, { find, order }).map(({ title }) => title);

test('titles with letters beyond ASCII stand where a reader looks for them', () => {
  assert.deepEqual(titles('', 'title'), ['Äpfel', 'apfel 9', 'apfel 10', null, 'Ölkanne', 'zebra']);
});

test('the newest and the largest come first', () => {
  assert.deepEqual(titles('', 'newest'), titles('', 'stored').toReversed());
  assert.deepEqual(titles('', 'largest'), titles('', 'stored').toReversed());
});

test('a document is found by title or address, without accents and letter case', () => {
  assert.deepEqual(titles('OLKA', 'stored'), ['Ölkanne']);
  assert.deepEqual(titles('/5', 'stored'), [null]);
  assert.deepEqual(titles('nothing', 'title'), []);
});
