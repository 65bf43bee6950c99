import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { chunkSlicesOf, splitText } from './split.ts';
import { countText } from './token/tokens.ts';

const bounds = { tokensMax: 40, overlapTokens: 10 };
const sentence = (n: number) => `Sentence number ${n} says something short.`;
const sentences = (count: number) => Array.from({ length: count }, (_, n) => sentence(n)).join(' ');

describe('chunks', () => {
  test('begin at headings and carry their path', () => {
    const text = '# One\n\nFirst.\n\n## Two\n\nSecond.\n\n# Three\n\nThird.';
    assert.deepEqual(
      splitText(text).map(({ heading, text: body }) => [heading, body]),
      [
        ['One', '# One\n\nFirst.'],
        ['One > Two', '## Two\n\nSecond.'],
        ['Three', '# Three\n\nThird.'],
      ],
    );
  });

  test('do not consist of headings alone if text follows', () => {
    const [only, ...rest] = splitText('# One\n\n## Two\n\nText.');
    assert.deepEqual(
      [only?.heading, only?.text, rest],
      ['One > Two', '# One\n\n## Two\n\nText.', []],
    );
  });

  test('keep code, tables and lists whole if they fit', () => {
    const code = '```\n# no heading\n\na = 1\n```';
    const table = '| a | b |\n| - | - |\n| 1 | 2 |';
    const text = `${sentences(3)}\n\n${code}\n\n${table}`;
    const chunks = splitText(text, bounds);
    for (const whole of [code, table])
      assert.ok(chunks.some((chunk) => chunk.text.includes(whole)));
    assert.ok(chunks.every(({ heading }) => heading === ''));
  });

  test('split a long table between its rows', () => {
    const rows = Array.from({ length: 30 }, (_, n) => `| row ${n} | value ${n} |`);
    for (const { text } of splitText(rows.join('\n'), bounds)) {
      for (const line of text.split('\n')) assert.ok(rows.includes(line), line);
    }
  });

  test('repeat the last sentences of the chunk before', () => {
    const chunks = splitText(sentences(20), bounds);
    assert.ok(chunks.length > 3);
    chunks.slice(1).forEach((chunk, index) => {
      const before = chunks[index];
      assert.ok(chunk.startOffset < (before?.endOffset ?? 0), 'they overlap');
      assert.match(chunk.text, /^Sentence/);
      const shared = chunk.text.slice(0, (before?.endOffset ?? 0) - chunk.startOffset);
      assert.ok(countText(shared) <= bounds.overlapTokens);
    });
  });

  test('have the same id for the same words under the same heading, and no id twice', () => {
    const [once, twice] = splitText('# A\n\nSame.\n\n# A\n\nSame.');
    assert.equal(twice?.key, `${once?.key}-2`);
    const [later] = splitText('# B\n\nOther.\n\n# A\n\nSame.').slice(1);
    assert.equal(later?.key, once?.key);
  });

  test('take time in proportion to the text length', () => {
    for (const piece of ['a', '.', '`', ' ', '\n', '| ', '# ', "?'", '<|endoftext|>', '漢', '😀']) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      const split = () => {
        for (const chunk of splitText(text)) assert.ok(countText(chunk.text) <= 256);
      };
      assertCpuMs(10_000, split, JSON.stringify(piece));
    }
  });
});

const line = fc.oneof(
  { weight: 6, arbitrary: fc.lorem({ mode: 'sentences', maxCount: 4 }) },
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.constantFrom('# A', '## B', '### C', '- item', '1. one', '', '\t', '\u000b'),
  fc.constantFrom('```', '~~~', '```js', '    ```sh', '| a | b |', '| --- | --- |', '--|--'),
  fc.nat(60).map((rows) => `| a | b |\n|-|-|${'\n| row | value |'.repeat(rows)}`),
  fc.nat(60).map((lines) => `\`\`\`c${'\n  call(x, y);'.repeat(lines)}\n\`\`\``),
  fc.string({ maxLength: 80 }),
  fc.nat(300).map((size) => 'x'.repeat(size)),
);
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const markdown = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'));

const manyLines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const hostile: readonly [title: string, text: string][] = [
  ['lines with very much space before them', manyLines(120, () => `${' '.repeat(4200)}- item`)],
  ['a list that is nested very deep', manyLines(2300, (n) => `${'  '.repeat(n)}- item`)],
  ['quotes that are nested very deep', manyLines(1500, (n) => `${'>'.repeat(n)} item`)],
  ['a heading with very much space in it', `# a${' '.repeat(300_000)}b`],
  ['a very long heading over many chunks', `# ${'a '.repeat(200_000)}\n\n${sentences(20_000)}`],
  ['a very long table', `| a | b |\n|-|-|\n${'| 1 | 2 |\n'.repeat(100_000)}`],
  ['many tables', '| a |\n|-|\n\n'.repeat(100_000)],
  ['a table with a very long header', `|${'a|'.repeat(200_000)}\n|-|\n${'| 1 |\n'.repeat(9000)}`],
  ['lines of bars', 'a|\n'.repeat(300_000)],
  ['one long piece of code', `\`\`\`js\n${'call();\n'.repeat(200_000)}`],
  ['a very long fence', `${'`'.repeat(200_000)}\n${'call();\n'.repeat(9000)}`],
  ['fences in fences', manyLines(2000, (n) => '`'.repeat(3 + n))],
  ['fences that are indented ever deeper', manyLines(1500, (n) => `- a\n${' '.repeat(n)}~~~ js`)],
  ['one word', 'a'.repeat(1_000_000)],
  ['nothing but space', ' '.repeat(1_000_000)],
  ['marks on one letter', `a${'\u0301'.repeat(300_000)}`],
];

describe('chunks of hostile text', () => {
  for (const [title, text] of hostile) {
    test(`are made in a time that grows with its length: ${title}`, () => {
      assertCpuMs(8000, () => void splitText(text));
    });
  }
});

describe('chunks of any text', () => {
  test('cover it in order, within bounds, and the same way each time', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const chunks = splitText(text, bounds);
        let covered = 0;
        for (const [index, { opening, closing, ...cut }] of chunkSlicesOf(text, bounds).entries()) {
          const chunk = chunks[index] as (typeof chunks)[number];
          assert.equal(chunk.ordinal, index);
          const part = text.slice(cut.startOffset, cut.endOffset);
          assert.deepEqual(chunk, { ...cut, text: opening + part + closing });
          if (chunk.startOffset > covered) {
            assert.match(text.slice(covered, chunk.startOffset), /^\s*$/);
          }
          assert.ok(chunk.endOffset > covered, 'each chunk advances');
          covered = chunk.endOffset;
          const tokens = countText(chunk.text);
          assert.ok(tokens <= bounds.tokensMax, `${tokens} tokens`);
          assert.equal(chunk.tokenCount, tokens);
        }
        assert.match(text.slice(covered), /^\s*$/);
        const known = new Set(chunks.flatMap((chunk) => wordsOf(chunk.text)));
        // A longer word may be split.
        const words = text
          .split(/\s+/)
          .filter(({ length }) => length <= 64)
          .flatMap(wordsOf);
        assert.deepEqual(
          words.filter((word) => !known.has(word)),
          [],
        );
        assert.equal(new Set(chunks.map(({ key }) => key)).size, chunks.length);
        assert.deepEqual(splitText(text, bounds), chunks);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});
