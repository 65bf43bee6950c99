/**
 * HTML that is all content, such as a chapter or a mail: every block counts. If it is too deep or
 * too large, it is read without a tree.
 */
import assert from 'node:assert/strict';
import { mark } from '../../html/article/element-marks.ts';
import { measure } from '../../html/article/measure.ts';
import { type Page, readPage } from '../../html/block/blocks.ts';
import { toMarkdown } from '../../html/block/markdown.ts';
import { flatten } from '../../html/page/flat.ts';
import { slim } from '../../html/page/slim.ts';
import { parseTree, type TreeDocument } from '../../html/tree/document.ts';

export interface HtmlDocument {
  readonly title: string | undefined;
  readonly markdown: string;
}

export interface HtmlReading {
  /** Tables contain data, even if their cells contain paragraphs: none is a layout. */
  readonly hasGrids: boolean;
}

const bounds = { charactersMax: 6_000_000, depthMax: 400, elementsMax: 200_000 };

export function readHtmlDocument(html: string, { hasGrids }: HtmlReading): HtmlDocument {
  const slimmed = slim(html);
  const { depth, elements } = measure(slimmed);
  const isLarge =
    slimmed.length > bounds.charactersMax ||
    depth > bounds.depthMax ||
    elements > bounds.elementsMax;
  return isLarge ? readFlat(html) : readTree(slimmed, hasGrids);
}

function readFlat(html: string): HtmlDocument {
  const { title, text } = flatten(html);
  return { title, markdown: text };
}

function readTree(html: string, hasGrids: boolean): HtmlDocument {
  const document = parseTree(`<html><body>${bodyOf(html)}</body></html>`);
  const root = document.documentElement;
  assert(root !== null);
  if (hasGrids) flattenCells(document);
  const page = readPage(root);
  const hidden = hiddenIn(page);
  const blocks = page.blocks.filter((_block, index) => hidden[index] === 0);
  return { title: titleOf(html), markdown: toMarkdown(blocks) };
}

/** How many hidden elements contain each block. */
function hiddenIn({ blocks, scopes }: Page): Int32Array {
  const depths = new Int32Array(blocks.length + 1);
  for (const { marks, start, end } of scopes) {
    if ((marks & mark.hidden) === 0) continue;
    depths[start] = (depths[start] ?? 0) + 1;
    depths[end] = (depths[end] ?? 0) - 1;
  }
  let depth = 0;
  return depths.map((change) => {
    depth += change;
    return depth;
  });
}

/** The head has no content, and an XML declaration would confuse the parser. */
function bodyOf(html: string): string {
  const start = /<body[^<>]{0,10000}>/i.exec(html);
  if (!start) return html.replace(/^\s*<\?xml[^<>]*\?>|<!doctype[^<>]*>/gi, '');
  const rest = html.slice(start.index + start[0].length);
  const end = rest.search(/<\/body\s*>/i);
  return end < 0 ? rest : rest.slice(0, end);
}

function titleOf(html: string): string | undefined {
  const title = /<title[^<>]*>([^<]{1,2000})/i.exec(html.slice(0, 100_000))?.[1];
  return title === undefined ? undefined : flatten(title).text.replace(/\s+/g, ' ') || undefined;
}

/** Paragraphs in a cell become lines, so that its table stays a table. */
function flattenCells(document: TreeDocument): void {
  for (const cell of document.querySelectorAll('td, th')) {
    if (cell.querySelector('table')) continue;
    if (!cell.querySelector('p, div, ul, ol, h1, h2, h3, h4')) continue;
    cell.innerHTML = cell.innerHTML
      .replace(/<\/(?:p|div|li|h[1-6])>/gi, '<br>')
      .replace(/<\/?(?:p|div|ul|ol|li|h[1-6])(?:\s[^>]*)?>/gi, '');
  }
}
