/**
 * One page of a PDF as Markdown. The library's Markdown is used if it has all words of the page.
 * Missing words are added from the lines of the page, except for headers and footers that repeat on
 * other pages.
 */
import type { ParsedPage } from '@llamaindex/liteparse';
import { toTable } from '../table.ts';
import { countWords, plainWords } from '../word-count.ts';
import { joinContinued } from './continued.ts';
import { type Line, linesOf, rightToLeftShare } from './lines.ts';
import { tidyPage } from './markdown.ts';
import { withTables } from './tables.ts';

interface PageLines {
  readonly page: ParsedPage;
  readonly lines: readonly Line[];
}

/** The Markdown of each page, in order. */
export function pageTexts(pages: readonly ParsedPage[]): string[] {
  const all = pages.map((page) => ({ page, lines: linesOf(page) }));
  const repeated = repeatedLines(all);
  return joinContinued(
    all.map(({ page, lines }) => {
      const edges = edgeLines(lines, repeated, page.height);
      const body = lines.filter((line) => !edges.has(line));
      const { markdown, tables } = withTables(page);
      return { text: pageText(tidyPage(markdown), { body, height: page.height }), tables };
    }),
  );
}

const rebuiltShareMax = 0.5;

interface Body {
  readonly body: readonly Line[];
  readonly height: number;
}

function pageText(markdown: string, { body, height }: Body): string {
  const isRightToLeft = rightToLeftShare(body.map(({ text }) => text).join(' ')) > 0.5;
  if (isRightToLeft) return toMarkdown(body);
  const missing = missingIn(markdown, { body, height });
  const isTurned = body.filter(({ turn }) => turn !== 0).length > body.length / 2;
  if (missing.size > rebuiltShareMax * body.length || (isTurned && missing.size > 0)) {
    return toMarkdown(body);
  }
  return missing.size === 0 ? markdown : withMissing(markdown, body, missing);
}

/** Of repeated lines, the library drops those in the margins. */
function missingIn(markdown: string, { body, height }: Body): ReadonlySet<Line> {
  const known = countWords(markdown);
  const inner = body.filter((line) => !isInMargin(line, height));
  const outer = body.filter((line) => isInMargin(line, height));
  return new Set([...inner, ...outer].filter((line) => !takesAll(known, plainWords(line.text))));
}

/** Paragraphs, and tables if adjacent lines have the same number of cells. */
function toMarkdown(lines: readonly Line[]): string {
  const parts: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = tableEnd(lines, at);
    if (end - at >= tableRowsMin) {
      parts.push(toTable(lines.slice(at, end).map(({ cells }) => [...cells])));
      at = end;
      continue;
    }
    const paragraph = paragraphEnd(lines, at);
    parts.push(joinLines(lines.slice(at, paragraph).map(({ text }) => text)));
    at = paragraph;
  }
  return parts.join('\n\n');
}

const tableRowsMin = 3;
const cellsMin = 3;

function tableEnd(lines: readonly Line[], at: number): number {
  const cells = lines[at]?.cells.length ?? 0;
  if (cells < cellsMin) return at;
  let end = at + 1;
  while (lines[end]?.cells.length === cells && lines[end]?.turn === lines[at]?.turn) end += 1;
  return end;
}

/** A gap of nearly a line ends a paragraph. */
const paragraphGap = 0.8;

function paragraphEnd(lines: readonly Line[], at: number): number {
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const [before, line] = [lines[end - 1], lines[end]];
    if (!before || !line || before.turn !== line.turn) break;
    const height = Math.min(before.bottom - before.top, line.bottom - line.top);
    const gap = line.top - before.bottom;
    if (gap > paragraphGap * height || gap < -height || tableEnd(lines, end) - end >= tableRowsMin)
      break;
  }
  return end;
}

function joinLines(lines: readonly string[]): string {
  return lines.reduce((text, line) => {
    const isDivided = /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(line);
    return isDivided ? text.slice(0, -1) + line : `${text}\n${line}`;
  });
}

/** Each run of missing lines is inserted after the block of the line before it. */
function withMissing(markdown: string, body: readonly Line[], missing: ReadonlySet<Line>): string {
  const blocks = markdown.split(/\n{2,}/);
  const words = blocks.map((block) => ` ${plainWords(block).join(' ')} `);
  const added = new Map<number, string[]>();
  let anchor = -1;
  for (let at = 0; at < body.length; ) {
    const line = body[at] as Line;
    if (!missing.has(line)) {
      const found = words.findIndex((text) =>
        text.includes(` ${plainWords(line.text).join(' ')} `),
      );
      if (found >= 0) anchor = found;
      at += 1;
      continue;
    }
    let end = at + 1;
    while (missing.has(body[end] as Line)) end += 1;
    added.set(anchor, [...(added.get(anchor) ?? []), toMarkdown(body.slice(at, end))]);
    at = end;
  }
  const parts = [...(added.get(-1) ?? [])];
  for (const [index, block] of blocks.entries()) parts.push(block, ...(added.get(index) ?? []));
  return parts.join('\n\n');
}

/** Subtracts the words from the counts if most of them are there. A hyphen may have joined two. */
function takesAll(counts: Map<string, number>, words: readonly string[]): boolean {
  const there = words.filter((word) => (counts.get(word) ?? 0) > 0);
  if (there.length < Math.floor(presentShareMin * words.length)) return false;
  for (const word of there) counts.set(word, (counts.get(word) ?? 0) - 1);
  return true;
}

const presentShareMin = 0.7;

/**
 * Lines in the margins with the same words except figures, on this many and this share of pages.
 */
const repeats = { pagesMin: 3, pagesShare: 0.4, wordsMax: 20 };

function repeatedLines(all: readonly PageLines[]): ReadonlySet<string> {
  const pages = new Map<string, number>();
  for (const { page, lines } of all) {
    const outer = lines.filter((line) => isInMargin(line, page.height));
    for (const key of new Set(outer.map(keyOf))) pages.set(key, (pages.get(key) ?? 0) + 1);
  }
  const least = Math.max(repeats.pagesMin, repeats.pagesShare * all.length);
  return new Set([...pages].filter(([, count]) => count >= least).map(([key]) => key));
}

function keyOf({ text }: Line): string {
  return text
    .replace(/\d+|\b[ivxlc]+\b/gi, '#')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The share of the page height, at top and bottom, for headers and footers. */
const marginShare = 0.12;

function isInMargin({ top, bottom }: Line, height: number): boolean {
  return bottom < marginShare * height || top > (1 - marginShare) * height;
}

/** Repeated lines in the margins, from the first and the last line inwards. */
function edgeLines(
  lines: readonly Line[],
  repeated: ReadonlySet<string>,
  height: number,
): ReadonlySet<Line> {
  const inOrder = lines.filter(({ turn }) => turn === 0).toSorted((a, b) => a.top - b.top);
  const isEdge = (line: Line) =>
    isInMargin(line, height) &&
    repeated.has(keyOf(line)) &&
    plainWords(line.text).length <= repeats.wordsMax;
  const fromTop = inOrder.findIndex((line) => !isEdge(line));
  const fromBottom = inOrder.findLastIndex((line) => !isEdge(line));
  // A page of nothing else is kept: repetition does not make it empty.
  if (fromTop < 0) return new Set();
  return new Set([...inOrder.slice(0, fromTop), ...inOrder.slice(fromBottom + 1)]);
}
