/** Malicious pages: each takes seconds at most, where a naive reader takes minutes or crashes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCpuMs } from '../../../../test/support/measure.ts';
import { extractHtml } from './extract-html.ts';

/**
 * In CPU time, since the machine may be busy. Generous: the slowest takes a few seconds, and
 * quadratic ones took half a minute.
 */
const cpuMsMax = 15_000;

const sentence = 'Some words, which make a sentence of the usual length. ';
const numbers = (count: number) => Array.from({ length: count }, (_value, index) => index);

/** Name, page, and a word that must be found in it, if any. */
const hostile: readonly (readonly [name: string, html: () => string, word?: string])[] = [
  ['rows of breaks and links', () => '<p>row<br><br><a href=x>link</a>'.repeat(20_000), 'row'],
  ['5,000 nested divisions', () => `${'<div>'.repeat(5000)}deep`, 'deep'],
  ['200,000 nested divisions', () => `${'<div>'.repeat(200_000)}deep`, 'deep'],
  ['self-closed divisions, which are not', () => `${'<div/>'.repeat(100_000)}deep`, 'deep'],
  ['drawings that hold pages', () => `<svg><foreignObject>${'<p/><b/><div/>'.repeat(50_000)}`],
  ['nested quotes', () => `${'<blockquote>'.repeat(5000)}deep`, 'deep'],
  ['nested lists', () => `${'<ul><li>'.repeat(400)}deep`, 'deep'],
  [
    'a heading of nested elements around a long text',
    () => `<h1>${'<span>'.repeat(450)}${sentence.repeat(10_000)}</h1>`,
    'usual',
  ],
  ['items in terms in items', () => '<dt><li>word '.repeat(7000), 'word'],
  ['tag text in attribute values', () => `<p id="a>${'<p id="<i><b>">word'.repeat(9000)}`],
  [
    '14,000 classes',
    () =>
      numbers(14_000)
        .map((n) => `<p class="a${n}">word`)
        .join(''),
    'word',
  ],
  ['nested divisions with breaks', () => '<div>word<br>'.repeat(490), 'word'],
  ['an attribute of a megabyte', () => `<p class="${'a '.repeat(500_000)}">word</p>`, 'word'],
  [
    '100,000 attributes',
    () =>
      `<p ${numbers(100_000)
        .map((number) => `a${number}=1`)
        .join(' ')}>word</p>`,
    'word',
  ],
  ['a title of a megabyte', () => `<title>${'t'.repeat(1e6)}</title><p>word</p>`, 'word'],
  ['everything unclosed', () => '<p>word<div>two<b>three<table><tr><td>'.repeat(300), 'word'],
  ['quotes that never close', () => '<a x="'.repeat(200_000)],
  ['a million opening brackets', () => '<'.repeat(1e6)],
  ['comments that never close', () => '<!--'.repeat(200_000)],
  ['scripts that never close', () => '<script>'.repeat(100_000)],
  ['drawings that never close', () => `${'<svg>'.repeat(100_000)}`],
  ['a million entities', () => '&#65;'.repeat(1e6), 'AAA'],
  ['a million spaces', () => `<p>${'&nbsp;'.repeat(1e6)}word</p>`, 'word'],
  ['ten megabytes of prose', () => `<p>${sentence}</p>`.repeat(160_000), 'usual'],
  ['50 megabytes of text', () => 'word '.repeat(10_000_000), 'word'],
  ['a long list', () => `<ol>${'<li>item'.repeat(50_000)}</ol>`, 'item'],
  ['a long table', () => `<table>${'<tr><td>one<td>two'.repeat(20_000)}</table>`, 'one'],
  ['thousands of links', () => '<a href=x>some</a> '.repeat(30_000), 'some'],
  ['deep JSON-LD', () => `<script type="application/ld+json">${'['.repeat(1e5)}</script>word`],
  ['null bytes', () => `<p>${'word\0 '.repeat(1000)}</p>`, 'word'],
];

describe('a hostile page is read within bounds', () => {
  for (const [name, makeHtml, word] of hostile) {
    test(name, () => {
      const html = makeHtml();
      let extract = extractHtml('');
      assertCpuMs(cpuMsMax, () => {
        extract = extractHtml(html);
      });
      if (word === undefined) return;
      assert.ok(extract.found);
      assert.ok(extract.text.includes(word));
    });
  }
});

test('a page too deep for a tree is marked as read without one', () => {
  const extract = extractHtml(`<title>Deep</title>${'<div>'.repeat(5000)}words`);
  assert.ok(extract.found);
  assert.equal(extract.title, 'Deep');
  assert.equal(extract.meta.isDegraded, true);
});
