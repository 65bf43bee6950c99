import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareKeys } from './source-kind.ts';

describe('the order of keys', () => {
  test('is that of the bytes of their UTF-8', () => {
    const units = ['', 'a', 'b', '/', '\u00e9', '\u07ff', '\ud7ff', '\ue000', '\uffff'];
    const parts = [...units, '\u{10000}', '\u{1f99a}', '\u{1f99b}', '\u{10ffff}', '\ud83e'];
    const keys = parts.flatMap((one) =>
      parts.flatMap((two) => parts.map((end) => one + two + end)),
    );
    for (const one of keys.filter((_, index) => index % 61 === 0)) {
      for (const other of keys) {
        const expected = Buffer.compare(Buffer.from(one), Buffer.from(other));
        assert.equal(Math.sign(compareKeys(one, other)), expected, JSON.stringify([one, other]));
      }
    }
  });
});
