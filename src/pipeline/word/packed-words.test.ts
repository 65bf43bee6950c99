import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Analyzer } from './analysis.ts';
import {
  type Block,
  blocksOf,
  endOf,
  type TermKey,
  termKeyOf,
  termsAmong,
  toWanted,
} from './packed-words.ts';
import { WordPacker, type WordRow } from './word-packer.ts';

const seed = 23;
const analyzer = new Analyzer();

function rowsOf(texts: readonly string[]): WordRow[] {
  return texts.map((text, index) => ({ ordinal: index * 3, heading: '', text }));
}

const nameOf = ({ hash, check }: TermKey) => `${hash}/${check}`;

function keyAt({ words, hashesAt, bytes, checksAt }: Block, term: number): TermKey {
  return { hash: words[hashesAt + term] ?? -1, check: bytes[checksAt + term] ?? -1 };
}

/** Term counts per chunk, read back from the bytes. */
function unpacked(packed: Uint8Array) {
  return [...blocksOf(packed)].flatMap((block) => {
    const { words, halves, ordinalsAt, lengthsAt, startsAt, postingsAt } = block;
    const chunks = Array.from({ length: block.chunks }, (_, chunk) => ({
      ordinal: words[ordinalsAt + chunk],
      length: words[lengthsAt + chunk],
      counts: {} as Record<string, number>,
    }));
    for (let term = 0; term < block.terms; term++) {
      const name = nameOf(keyAt(block, term));
      for (let at = halves[startsAt + term] ?? 0; at < endOf(block, term); at++) {
        const posting = halves[postingsAt + at] ?? 0;
        const counts = chunks[posting >> 8]?.counts ?? {};
        counts[name] = (counts[name] ?? 0) + (posting & 0xff);
      }
    }
    return chunks;
  });
}

/** The same, counted in the texts. */
function counted(rows: readonly WordRow[]) {
  return rows.map(({ ordinal, text }) => {
    const counts: Record<string, number> = {};
    const lower = text.toLowerCase();
    const tokens = [...analyzer.splitter.tokensOf(lower)];
    for (const { start, end, kind } of tokens) {
      for (const term of analyzer.termsOf(lower.slice(start, end), kind, 'en')) {
        const name = nameOf(termKeyOf(term));
        counts[name] = Math.min((counts[name] ?? 0) + 1, 255);
      }
    }
    return { ordinal, length: tokens.length, counts };
  });
}

describe('packed words', () => {
  test('say how often each chunk has each term', () => {
    const word = fc.oneof(
      fc.constantFrom(...'the red apples apple Käse x1 的 返金は 서울에서 ภาษาไทย'.split(' ')),
      fc.string(),
    );
    const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '));
    const packer = new WordPacker();
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
        const rows = rowsOf(texts);
        assert.deepEqual(unpacked(packer.pack('', rows)), counted(rows));
      }),
      { numRuns: 300, seed },
    );
  });

  test('of many chunks, many words and a frequent word are complete', () => {
    const packer = new WordPacker();
    const many = rowsOf(Array.from({ length: 700 }, (_, n) => `chunk ${n} of ${n % 13}`));
    const wide = rowsOf(
      Array.from({ length: 9 }, (_, n) =>
        Array.from({ length: 20_000 }, (_, place) => `w${n * 7000 + place}`).join(' '),
      ),
    );
    const often = rowsOf(['echo '.repeat(1000)]);
    for (const rows of [many, wide, often]) {
      assert.deepEqual(unpacked(packer.pack('', rows)), counted(rows));
    }
    assert.ok([...blocksOf(packer.pack('', wide))].length > 1, 'there was more than one block');
  });

  test('can be read at any memory alignment', () => {
    const rows = rowsOf(['one lamp', 'two lamps']);
    const packed = new WordPacker().pack('', rows);
    const moved = new Uint8Array(packed.length + 3);
    moved.set(packed, 3);
    assert.deepEqual(unpacked(moved.subarray(3)), counted(rows));
  });

  test('keep their format for later versions', () => {
    const packed = new WordPacker().pack('Lamps', [
      { ordinal: 0, heading: 'Use', text: 'The lamp is lit, naïve 的.' },
    ]);
    const expected = [
      '4800000001000000050000000500000000000000',
      '08000000af15e322b1984436e34a07a8ba2c9fdacec40add',
      '00000100020003000400050001000200010001007cce923270000000',
    ];
    assert.equal(Buffer.from(packed).toString('hex'), expected.join(''));
  });

  test('find which of some terms they contain', () => {
    const text = Array.from({ length: 900 }, (_, n) => `term${n}`).join(' ');
    const [block] = blocksOf(new WordPacker().pack('', rowsOf([text])));
    assert.ok(block);
    const name = fc.nat(1800).map((number) => `term${number}`);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 1800 }), (names) => {
        const found = termsAmong(block, toWanted(names)).map((term) => keyAt(block, term));
        const there = names.filter((one) => Number(one.slice(4)) < 900).map(termKeyOf);
        assert.deepEqual(
          found,
          there.sort((a, b) => a.hash - b.hash),
        );
      }),
      { numRuns: 200, seed },
    );
  });
});
