import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { limits } from '../../kernel/limits.ts';
import type { NewChunk } from '../../store/chunks.ts';
import { splitText } from './split.ts';

const charactersMax = limits.document.chunkTokensMax * 4;

/** Every chunk is where it says it is; between one and the next there are only blanks. */
function assertFaithful(text: string, chunks: readonly NewChunk[]): void {
  let end = 0;
  chunks.forEach((chunk, index) => {
    assert.equal(chunk.ordinal, index);
    assert.equal(text.slice(chunk.startOffset, chunk.endOffset), chunk.text);
    assert.equal(text.slice(end, chunk.startOffset).trim(), '');
    assert.ok(chunk.text.length > 0 && chunk.text.length <= charactersMax, `${chunk.text.length}`);
    end = chunk.endOffset;
  });
  assert.equal(text.slice(end).trim(), '');
}

function split(text: string): NewChunk[] {
  const chunks = splitText(text);
  assertFaithful(text, chunks);
  return chunks;
}

function durationOf(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  return process.cpuUsage(start).user / 1000;
}

describe('what is split', () => {
  test('is found again by its offsets, whole, in order and within the bound', () => {
    const piece = fc.oneof(
      fc.constantFrom('# One\n', '### Three\n', '\n', '\n\n', '  ', '####### no\n', '#\n', '# \n'),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.integer({ min: 1, max: 3000 }).map((length) => 'word '.repeat(length).slice(0, length)),
      fc.integer({ min: 1, max: 3000 }).map((length) => 'x'.repeat(length)),
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, (text) => void split(text)),
      { numRuns: 300 },
    );
  });

  test('is nothing where there is nothing', () => {
    assert.deepEqual(splitText(''), []);
    assert.deepEqual(splitText(' \n\n\t\n'), []);
  });

  test('stays together while it fits', () => {
    const text = 'First paragraph.\n\nSecond paragraph.';
    assert.deepEqual(
      split(text).map((chunk) => chunk.text),
      [text],
    );
  });

  test('has one heading path for each chunk', () => {
    const text = '# A\n\none\n\n## B\n\ntwo\n\n### C\n\nthree\n\n## D\n\nfour\n\n# E\n\nfive';
    const headings = split(text).map(({ heading }) => heading);
    assert.deepEqual(headings, ['A', 'A > B', 'A > B > C', 'A > D', 'E']);
  });

  test('may skip levels of headings', () => {
    const headings = split('### C\n\none\n\n# A\n\ntwo').map(({ heading }) => heading);
    assert.deepEqual(headings, ['C', 'A']);
  });

  test('is cut at the end of a sentence where a paragraph is too long', () => {
    const sentence = 'This sentence has some words in it. ';
    const chunks = split(sentence.repeat(100).trim());
    assert.ok(chunks.length > 1);
    assert.ok(chunks.every(({ text }) => /in it\.\s?$/.test(text)));
  });

  test('is cut at a space where there is no sentence', () => {
    const chunks = split('word '.repeat(1000).trim());
    assert.ok(chunks.every(({ text }) => /^(?:word ?)+$/.test(text)));
  });

  test('is cut between characters, never within one', () => {
    const chunks = split(`a${'😀'.repeat(2000)}`);
    assert.ok(chunks.every(({ text }) => text.isWellFormed()));
  });

  test('has the same key for the same text under the same heading, and another elsewhere', () => {
    const [first, second] = split('# A\n\nsame\n\n# A\n\nsame');
    const [third] = split('# A\n\nsame');
    assert.equal(first?.key, third?.key);
    assert.equal(first?.key, second?.key);
    assert.notEqual(split('# B\n\nsame')[0]?.key, first?.key);
  });
});

describe('splitting takes time in proportion to the text', () => {
  const long: Readonly<Record<string, string>> = {
    'five megabytes of words': 'some words. '.repeat(430_000),
    'five megabytes of lines': 'a line of words\n'.repeat(320_000),
    'five megabytes without a space': 'x'.repeat(5_000_000),
    'a hundred thousand headings': '# heading\n'.repeat(100_000),
    'sixty thousand blanks on a line': `a\n${' '.repeat(60_000)}\nb`,
  };
  for (const [what, text] of Object.entries(long)) {
    test(what, () => {
      const durationMs = durationOf(() => splitText(text));
      assert.ok(durationMs < 200 + text.length / 1000, `took ${Math.round(durationMs)} ms`);
    });
  }

  test('a heading of a hundred kilobytes is not written out again for every chunk', () => {
    const text = `# ${'word '.repeat(20_000)}`;
    const written = splitText(text).reduce((sum, { heading }) => sum + heading.length, 0);
    assert.ok(written < 3 * text.length, `${written} characters of headings`);
  });
});
