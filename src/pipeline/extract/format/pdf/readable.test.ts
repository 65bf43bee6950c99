import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { writePdf } from '../../../../../test/support/pdf-writer.ts';
import { parsePdf } from './pdf.ts';
import { readsAsWords } from './readable.ts';

function pageOf(lines: readonly string[]): string {
  const shown = lines.map((line, index) => `1 0 0 1 60 ${740 - 20 * index} Tm (${line}) Tj`);
  return `BT /F1 12 Tf ${shown.join(' ')} ET`;
}

async function pagesRecognized(lines: readonly string[]) {
  const bytes = writePdf([pageOf(lines)]);
  const source = 'page.pdf';
  const input = { bytes, mediaType: 'application/pdf', source };
  const { markdown, meta } = await parsePdf(input, new AbortController().signal);
  return { markdown, count: meta.pages_recognized ?? 0 };
}

describe('a page of a PDF whose letters seem to have no meaning', () => {
  test('is read as it is if there are words between them', async () => {
    const line = 'The key of the lock is qwrtpsdfghjklzxcvbnm or BCDFGHJKLMNPQRST in the book.';
    const { markdown, count } = await pagesRecognized(Array.from({ length: 12 }, () => line));
    assert.equal(count, 0);
    assert.equal(markdown.split('qwrtpsdfghjklzxcvbnm').length, 13);
  });

  test('is recognized if there are none', async () => {
    const line = 'Ymj pjd tk ymj qthp nx vbwyuxikltopqechdgsr ns ymj gttp';
    const { count } = await pagesRecognized(Array.from({ length: 12 }, () => line));
    assert.equal(count, 1);
  });
});

describe('a text', () => {
  const rows: readonly [string, boolean][] = [
    ['It was the best of times, it was the worst of times, and all of it was in the book.', true],
    ['Der Hafen ist im Winter nicht der Ort, an dem die Schiffe auf den Sommer warten.', true],
    ['Le port de la ville est dans le nord et les navires de la mer du Nord sont au quai.', true],
    ['Ny bfx ymj gjxy tk ynrjx, ny bfx ymj btwxy tk ynrjx, fsi fqq tk ny bfx ns ymj gttp.', false],
    ['abcdefghijklmnopqrstuvwxyz 0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ', false],
    ['the of and', false],
    ['', false],
  ];
  for (const [text, isWords] of rows) {
    test(`${isWords ? 'reads' : 'does not read'} as words: ${text.slice(0, 30)}`, () => {
      assert.equal(readsAsWords(text), isWords);
    });
  }
});
