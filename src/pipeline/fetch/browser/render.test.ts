import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isShell } from './render.ts';

const words = (count: number): string => Array(count).fill('word').join(' ');

describe('a page', () => {
  const rows: readonly [name: string, html: string, expected: boolean][] = [
    ['with a mount point and a script', '<div id="root"></div><script src="a.js"></script>', true],
    ['that asks for JavaScript', '<noscript>Please enable it</noscript><SCRIPT>a()</SCRIPT>', true],
    ['that says it is loading', '<p>Loading…</p><script src="a.js"></script>', true],
    ['whose script holds the text', `<script>const a = "${words(500)}"</script>`, true],
    ['without scripts', '<p>A short note.</p>', false],
    ['with text and scripts', `<p>${words(60)}</p><script></script>`, false],
    [
      'in Japanese, with scripts',
      `<p>${'これは長い文章です。'.repeat(20)}</p><script></script>`,
      false,
    ],
    ['without anything', '', false],
  ];
  for (const [name, html, expected] of rows) {
    test(`${name} is ${expected ? 'an empty shell' : 'read as received'}`, () => {
      assert.equal(isShell(html), expected);
    });
  }
});
