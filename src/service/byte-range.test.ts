import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readByteRange } from './byte-range.ts';

const cases: readonly (readonly [
  header: string | undefined,
  size: number,
  expected: ReturnType<typeof readByteRange>,
])[] = [
  [undefined, 10, undefined],
  ['bytes=0-3', 10, { at: 0, bytes: 4 }],
  ['BYTES=0-3', 10, { at: 0, bytes: 4 }],
  ['bytes=9-9', 10, { at: 9, bytes: 1 }],
  ['bytes=4-', 10, { at: 4, bytes: 6 }],
  ['bytes=4-99999999999999999999', 10, { at: 4, bytes: 6 }],
  ['bytes=-3', 10, { at: 7, bytes: 3 }],
  ['bytes=-30', 10, { at: 0, bytes: 10 }],
  ['bytes=10-', 10, 'none'],
  ['bytes=99999999999999999999-', 10, 'none'],
  ['bytes=-0', 10, 'none'],
  ['bytes=0-', 0, 'none'],
  ['bytes=-5', 0, 'none'],
  // These are ignored: the whole content is the answer.
  ['bytes=3-1', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['lines=0-1', 10, undefined],
  ['bytes=a-b', 10, undefined],
];

test('a range is read, clamped to the content, ignored, or outside of it', () => {
  for (const [header, size, expected] of cases) {
    assert.deepEqual(readByteRange(header, size), expected, `${header} of ${size}`);
  }
});
