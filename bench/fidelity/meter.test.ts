/** Proves that each figure of the meter reacts to its defect. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readHtmlPage } from './html-page.ts';
import { readMarkdownPage } from './markdown-page.ts';
import { compare, sumScores } from './meter.ts';

const page = `<html><head><title>Pumps - The Manual</title></head><body>
<div class="navheader"><a href="a.html">Prev</a> <a href="b.html">Next</a></div>
<div class="header"><h1>2. Pumps<a class="headerlink" href="#pumps">¶</a></h1></div>
<p>A <b>pump</b>house has two pumps.</p>
<div class="sidebar"><p>A box of text is no navigation.</p></div>
<section id="menu"><h2><a class="toc-backref" href="#toc">The menu</a></h2>
<p>Press plus.</p></section>
<table><tr><th>Part</th><th>Price</th></tr><tr><td><p>Valve</p></td><td>4</td></tr></table>
<div id="sidebar"><a href="x.html">Other chapters</a></div>
<footer>Copyright</footer></body></html>`;

const whole = `# 2. Pumps

A **pump**house has two pumps.

A box of text is no navigation.

## The menu

1. Press plus.

| Part | Price |
| --- | --- |
| Valve | 4 |`;

const measure = (markdown: string, title = 'Pumps') =>
  compare(readHtmlPage(page), readMarkdownPage(markdown, title));

describe('the truth of a page', () => {
  test('is its text without the declared navigation', () => {
    const { words, headings, rows, title } = readHtmlPage(page);
    const text =
      '2 pumps a pumphouse has two pumps a box of text is no navigation the menu press plus ' +
      'part price valve 4';
    assert.equal(words.join(' '), text);
    assert.deepEqual(headings, ['2 pumps', 'the menu']);
    assert.deepEqual(rows, ['part | price', 'valve | 4']);
    assert.equal(title, '2 pumps');
  });

  test('is the whole page if navigation is part of it', () => {
    const { words } = readHtmlPage(page, 'all');
    for (const word of ['prev', 'chapters', 'copyright']) assert.ok(words.includes(word), word);
  });

  test('keeps an element with half of the page, regardless of its name', () => {
    const { words } = readHtmlPage('<body><div class="toc"><p>All of it.</p></div></body>');
    assert.deepEqual(words, ['all', 'of', 'it']);
  });

  test('has no title if several headings could be it, and no rows of layout', () => {
    const { title, rows } = readHtmlPage(
      '<h1>One</h1><h1>Two</h1><table><tr><td><table><tr><td>a<td>b</table><td>c<tr><td>d</table>',
    );
    assert.equal(title, undefined);
    assert.deepEqual(rows, []);
  });
});

describe('the meter', () => {
  test('finds nothing lost and no noise in a complete extraction', () => {
    const { wordsLost, wordsNoise, headingsLost, rowsExact, titlesRight } = measure(whole);
    assert.deepEqual(
      { wordsLost, wordsNoise, headingsLost, rowsExact, titlesRight },
      { wordsLost: 0, wordsNoise: 0, headingsLost: 0, rowsExact: 2, titlesRight: 1 },
    );
  });

  test('counts each lost word, as often as the page has it', () => {
    assert.equal(measure(whole.replace('two pumps', 'two')).wordsLost, 1);
    assert.equal(measure(whole.replace('A box of text is no navigation.', '')).wordsLost, 7);
  });

  test('counts kept navigation as noise', () => {
    const { wordsNoise, wordsLost } = measure(`${whole}\n\n[Prev](a.html) [Next](b.html)`);
    assert.deepEqual({ wordsNoise, wordsLost }, { wordsNoise: 2, wordsLost: 0 });
  });

  test('counts a heading that became a paragraph as lost, but not its words', () => {
    const { headings, headingsLost, wordsLost } = measure(whole.replace('## The', 'The'));
    assert.deepEqual(
      { headings, headingsLost, wordsLost },
      { headings: 2, headingsLost: 1, wordsLost: 0 },
    );
  });

  test('accepts the title in place of the heading that became the title', () => {
    const { headingsLost, wordsLost } = measure(whole.replace('# 2. Pumps', ''), '2. Pumps');
    assert.deepEqual({ headingsLost, wordsLost }, { headingsLost: 0, wordsLost: 0 });
    assert.equal(measure(whole.replace('# 2. Pumps', ''), 'The Manual').headingsLost, 1);
  });

  test('reads quotes, and does not mistake a prompt in code for a quote', () => {
    const quoted = whole.replaceAll(/^/gm, '> ');
    const { headingsLost, rowsExact, wordsLost } = measure(quoted);
    assert.deepEqual(
      { headingsLost, rowsExact, wordsLost },
      { headingsLost: 0, rowsExact: 2, wordsLost: 0 },
    );
    const { headings } = readMarkdownPage('```\n> # prompt\n```\n\n# Heading', undefined);
    assert.deepEqual(headings, ['heading']);
  });

  test('distinguishes a right title from a wrong one', () => {
    assert.equal(measure(whole, 'The Manual').titlesRight, 0);
    assert.equal(measure(whole, 'Chapter 2. Pumps').titlesRight, 1);
  });

  test('counts a row as exact only if its cells are separate', () => {
    assert.equal(measure(whole.replace('| Valve | 4 |', '| Valve 4 |')).rowsExact, 1);
    assert.equal(measure(whole.replace('| Valve | 4 |', 'Valve 4')).rowsExact, 1);
  });

  test('ignores headings and rows in code', () => {
    const { headings, rows } = readMarkdownPage('```\n# no\n| a | b |\n```\n# yes', undefined);
    assert.deepEqual({ headings, rows }, { headings: ['yes'], rows: [] });
  });

  test('counts a document below the threshold, and one that is empty', () => {
    const scores = [whole, 'A pumphouse has two pumps.', ''].map((markdown) => measure(markdown));
    assert.equal(sumScores(scores).documentsBelow, 2);
    assert.equal(measure('', '').wordsLost, measure('', '').words);
  });

  test('does not judge what the truth or the extractor lacks', () => {
    const given = { words: ['a'] };
    const { headings, rows, titles } = compare(readHtmlPage(page), given);
    assert.deepEqual({ headings, rows, titles }, { headings: 0, rows: 0, titles: 0 });
  });
});
