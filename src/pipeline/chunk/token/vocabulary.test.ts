import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import tokens from 'gpt-tokenizer/bpeRanks/cl100k_base';
import { noRank, readVocabulary, Vocabulary } from './vocabulary.ts';

const mark = Buffer.from('\ufeff');

describe('the vocabulary', () => {
  test('finds the rank of each token that the package finds by its bytes', () => {
    const vocabulary = readVocabulary();
    assert.equal(tokens.length, 100_256);
    for (const [rank, token] of tokens.entries()) {
      const bytes = Buffer.from(token as string);
      const isMarked = bytes.subarray(0, mark.length).equals(mark);
      assert.equal(vocabulary.rank(bytes, 0, bytes.length), isMarked ? noRank : rank, `${token}`);
    }
  });

  test('finds nothing else', () => {
    const vocabulary = readVocabulary();
    const known = new Set(tokens.map((token) => Buffer.from(token as string).toString('hex')));
    for (let first = 0; first < 256; first++) {
      for (let second = 0; second < 256; second++) {
        for (const bytes of [Buffer.of(first, second), Buffer.of(first, second, 0x65)]) {
          const isToken = vocabulary.rank(bytes, 0, bytes.length) !== noRank;
          assert.equal(isToken, known.has(bytes.toString('hex')), bytes.toString('hex'));
        }
      }
    }
    assert.equal(vocabulary.rank(Buffer.alloc(500, 'a'), 0, 500), noRank);
  });

  test('refuses a truncated file', () => {
    const file = readFileSync(new URL('../../../../assets/cl100k-base.bin', import.meta.url));
    for (const size of [0, 10, file.length >> 1, file.length - 1]) {
      assert.throws(() => new Vocabulary(file.subarray(0, size)), {
        name: 'Failure',
        message: 'the token vocabulary is damaged: install Pawl again',
      });
    }
  });
});
