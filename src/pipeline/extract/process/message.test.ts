import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswer } from './message.ts';

test('of what a parser says of a document, only values and lists of sentences are kept', () => {
  const meta = {
    pages: 3,
    author: 'Ada',
    degraded: true,
    warnings: ['One page was not read.'],
    mixed: ['a', 1],
    deep: { a: 1 },
    none: null,
  };
  const header = { is: 'parsed', memoryBytes: 1, title: null, language: null, meta };
  const { outcome } = readAnswer({ header, body: Buffer.from('words') });
  assert.ok('meta' in outcome);
  const { mixed: _, deep: __, none: ___, ...kept } = meta;
  assert.deepEqual(outcome.meta, kept);
});
