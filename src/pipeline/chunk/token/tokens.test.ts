import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { assertCpuMs } from '../../../../test/support/measure.ts';
import { charactersOf } from './characters.ts';
import { PieceMemory } from './piece-memory.ts';
import { countText, TokenMap } from './tokens.ts';

const seed = 11;
const asText = { disallowedSpecial: new Set<string>() };
const exact = (text: string) => countTokens(text, asText);

const awkward = fc.constantFrom(
  ..."'s 'S 'll 'lL 'VE 'rE 'ſ ' \n \r\n \t \u00a0 \u3000 \ufeff \u2028 . ?!".split(' '),
  ...['...', '12', '1234567', 'Ⅳ', '½'],
  ...[' ', '  ', '\n\n ', ' \n', '\v', '漢字', 'é', 'e\u0301', '😀', '\ud83d', '\ude00', '𝐀'],
  ...['<|endoftext|>', 'word', 'Words', ' the', "don't", "WE'LL", 'x'.repeat(40)],
);
const mixed = fc
  .array(fc.oneof(awkward, fc.string({ unit: 'binary', maxLength: 6 }), fc.lorem()), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));

describe('the tokens of a text', () => {
  test('are those that the tokenizer counts, for any text', () => {
    fc.assert(
      fc.property(mixed, (text) => assert.equal(countText(text), exact(text))),
      { numRuns: 3000, seed },
    );
  });

  test('are those of a part, for any surrounding text', () => {
    fc.assert(
      fc.property(mixed, fc.nat(), fc.nat(), (text, one, other) => {
        const [start, end] = [one % (text.length + 1), other % (text.length + 1)].sort(
          (a, b) => a - b,
        ) as [number, number];
        assert.equal(new TokenMap(text).count(start, end), exact(text.slice(start, end)));
      }),
      { numRuns: 2000, seed },
    );
  });

  test('are the same for every character of the first plane, alone and between words', () => {
    for (let code = 0; code < 0x10000; code += 1) {
      const character = String.fromCharCode(code);
      const text = `a${character} ${character}b1${character}`;
      assert.equal(countText(text), exact(text), `U+${code.toString(16)}`);
    }
  });
});

/** Letters of many scripts, signs and pairs, in words from one character to some hundreds. */
const letters = fc.oneof(
  ...[
    'a-z',
    'A-Za-z',
    'а-я',
    '一-鿿',
    'ぁ-ヿ',
    '가-힣',
    'ا-ي',
    'À-ɏ',
    '!-/',
    '☀-➿',
    '😀-🙏',
    '𝐀-𝑍',
  ].map((range) => fc.stringMatching(new RegExp(`^[${range}]{1,12}$`, 'u'))),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
);
const unseen = fc.oneof(
  { weight: 4, arbitrary: letters },
  fc.array(letters, { minLength: 10, maxLength: 60 }).map((parts) => parts.join('')),
);

describe('the tokens of random words', () => {
  const chosen = Number(process.env.PAWL_SEED ?? randomInt(2 ** 31));

  test(`are those that the tokenizer counts (seed ${chosen})`, () => {
    fc.assert(
      fc.property(fc.array(unseen, { maxLength: 8 }), (words) => {
        const text = words.join(' ');
        assert.equal(countText(text), exact(text));
      }),
      { numRuns: 1500, seed: chosen },
    );
  });

  test('take time in proportion to the word, however long it is', () => {
    const words = ['a', 'ab', '漢', '漢字', 'äö', '=', '😀'].map((part) => part.repeat(60_000));
    assertCpuMs(10_000, () => {
      for (const word of words) assert.ok(countText(word) > 1);
    });
  });
});

describe('the memory of pieces', () => {
  test('computes a piece once, and is cleared when it is full', () => {
    let asked = 0;
    const memory = new PieceMemory((_, start, end) => {
      asked += 1;
      return end - start;
    });
    const count = (piece: string) => memory.get(charactersOf(`(${piece})`), 1, piece.length + 1);
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 1000; n++) assert.equal(count(`piece${n}`), `piece${n}`.length);
    }
    assert.equal(asked, 1000);
    for (let n = 0; n < 200_000; n++) assert.equal(count(`other${n}`), `other${n}`.length);
    assert.equal(count('piece7'), 6);
  });
});
