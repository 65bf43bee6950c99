import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../block/blocks.ts';
import { extractHtml, type HtmlContent } from '../extract-html.ts';
import { parseTree } from '../tree/document.ts';
import type { TreeElement } from '../tree/element.ts';
import { findRegion } from './region.ts';

function contentOf(body: string): HtmlContent {
  const extract = extractHtml(`<html><head><meta property="og:type" content="article">
    <meta property="article:published_time" content="2024-05-06"></head><body>
    ${'<script></script>'.repeat(20)}${body}</body></html>`);
  assert.ok(extract.found, 'no content');
  return extract;
}

const sentence =
  'The ferry crossed the river at noon, and nobody on board was in a hurry, as ever before.';
const prose = `<p>${sentence} ${sentence}</p>`;
const verse = '<tr><td>Verse</td><td>I was there as well and saw it</td></tr>';

test('an article that the vote would drop keeps its region without comments and teasers', () => {
  const { text, meta, dropped } = contentOf(`<div class="content">
    <div class="sidebar"><table>${verse.repeat(200)}</table></div>
    <div class="comments"><h3>Leave a comment</h3><p>Nobody has said anything so far.</p></div>
    <div class="related"><h3>Further songs</h3><p>The one about trains.</p></div></div>
    <div class="imprint">${prose.repeat(6)}</div>`);
  assert.equal(meta.genre, 'article');
  assert.equal(text.split('Verse').length - 1, 200);
  assert.doesNotMatch(text, /Leave a comment|Further songs/);
  assert.ok(dropped.some(({ reason, text }) => reason === 'clutter' && text === 'Further songs'));
});

test('an element around the main one is never a margin', () => {
  const links = '<li><a href="/a">Another programme of ours</a></li>'.repeat(12);
  const root = parseTree(`<html><body>${prose}<aside class="sidebar"><ul>${links}</ul>
    <div itemprop="articleBody"><p>Nora tells of the border.</p></div></aside></body></html>`);
  const page = readPage(root.documentElement as TreeElement);
  const reasons = findRegion(page);
  assert.equal(reasons[page.blocks.findIndex(({ text }) => text.startsWith('Nora'))], undefined);
});

test('a main element of comments does not replace the article outside it', () => {
  const { text } = contentOf(`<div itemprop="articleBody">${prose.repeat(6)}</div>
    <main class="sidebar"><table>${verse.repeat(200)}</table></main>`);
  assert.ok(text.startsWith(sentence), text.slice(0, 100));
});

test('a heading that links to another page does not head the text below it', () => {
  const { text } = contentOf(`<article><h1>Ferry</h1>${prose.repeat(4)}
    <h2>On deck</h2>${prose.repeat(2)}
    <div><h2><a href="/course">Book our course on boats now</a></h2></div>
    ${prose.repeat(4)}</article>`);
  assert.match(text, /On deck/);
  assert.doesNotMatch(text, /Book our course/);
});
