/**
 * The Markdown structure that chunking needs: headings, fenced code, tables, lists and paragraphs,
 * each with its position in the text. One pass over the lines.
 */
export type BlockKind = 'heading' | 'code' | 'table' | 'list' | 'paragraph';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Block extends Span {
  readonly kind: BlockKind;
}

const fence = /^[ \t]*(`{3,}|~{3,})/;
const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const tableRow = /^\s*\|/;

interface Open {
  readonly kind: BlockKind;
  readonly start: number;
  end: number;
  readonly fence: string;
  readonly indent: number;
}

export function* blocksOf(text: string): Generator<Block> {
  let open: Open | undefined;
  let isInList = false;
  for (const line of linesOf(text)) {
    const content = text.slice(line.start, line.end);
    const indent = indentOf(content);
    // Code in a list ends where the list does: at a line with less indentation.
    if (open?.kind === 'code' && (content === '' || indent >= open.indent - indentMax)) {
      // Trailing blank lines of an unclosed code block are not part of it.
      if (content !== '') open.end = line.end;
      if (isLetter(content.charCodeAt(indent)) || !closesFence(content, open)) continue;
      yield spanOf(open);
      open = undefined;
      continue;
    }
    const kind = kindOf(content, { text, start: line.start, open: open?.kind, isInList, indent });
    if (kind === 'list') isInList = true;
    else if (content !== '' && indent === 0) isInList = false;
    if (open && (kind === undefined || kind !== open.kind || kind === 'heading')) {
      yield spanOf(open);
      open = undefined;
    }
    if (kind === undefined) continue;
    if (!open) {
      const { start, end } = line;
      const mark = kind === 'code' ? (fence.exec(content)?.[1] ?? '') : '';
      open = { kind, start, end, fence: mark, indent };
    }
    open.end = line.end;
  }
  if (open) yield spanOf(open);
}

function spanOf({ kind, start, end }: Block): Block {
  return { kind, start, end };
}

interface Around {
  readonly text: string;
  readonly start: number;
  readonly indent: number;
  readonly open: BlockKind | undefined;
  readonly isInList: boolean;
}

/** Undefined for an empty line, which ends the open block. */
function kindOf(content: string, around: Around): BlockKind | undefined {
  const { text, start, open, indent } = around;
  // Fast path: most lines begin with a letter, and no mark does.
  if (!isLetter(content.charCodeAt(indent))) {
    if (!/\S/.test(content)) return undefined;
    const marked = markedKind(content, around);
    if (marked !== undefined) return marked;
  }
  // The bars at both ends of a row are optional.
  if (content.includes('|')) {
    if (open === 'table' || delimiterEnd(text, start) !== undefined) return 'table';
  }
  // A line without a mark continues the previous item.
  return open === 'list' ? 'list' : 'paragraph';
}

function markedKind(content: string, { isInList, indent }: Around): BlockKind | undefined {
  if (fence.test(content) && (isInList || indent <= indentMax)) return 'code';
  if (heading.test(content)) return 'heading';
  if (tableRow.test(content)) return 'table';
  return listItem.test(content) ? 'list' : undefined;
}

/** ASCII only. */
function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Maximum indentation before a mark; beyond it, outside of a list, the line is indented code. */
const indentMax = 3;

function indentOf(line: string): number {
  let indent = 0;
  while (isSpace(line.charCodeAt(indent))) indent += 1;
  return indent;
}

function closesFence(line: string, opened: Open): boolean {
  const mark = fence.exec(line)?.[1];
  if (mark === undefined || indentOf(line) > opened.indent + indentMax) return false;
  const isSame = mark[0] === opened.fence[0] && mark.length >= opened.fence.length;
  return isSame && line.trim() === mark;
}

export interface CodeFence {
  readonly indent: string;
  readonly mark: string;
  /** The first word after the fence. */
  readonly language: string;
  /** The end of the line. */
  readonly end: number;
}

/** The fence on the line at `start`, if it is one. */
export function codeFence(text: string, start: number): CodeFence | undefined {
  const end = lineEnd(text, start);
  const line = text.slice(start, end);
  const mark = fence.exec(line)?.[1];
  if (mark === undefined) return undefined;
  const indent = line.slice(0, indentOf(line));
  const [language = ''] = line
    .slice(indent.length + mark.length)
    .trim()
    .split(/\s/, 1);
  return { indent, mark, language, end };
}

/** The end of the header of the table at `start`, including its delimiter row. */
export function delimiterEnd(text: string, start: number): number | undefined {
  const next = lineEnd(text, start) + 1;
  if (next > text.length) return undefined;
  const end = lineEnd(text, next);
  const line = text.slice(next, end);
  const isDelimiter = /^[-:| \t\r]+$/.test(line) && line.includes('-') && line.includes('|');
  return isDelimiter ? next + line.trimEnd().length : undefined;
}

function lineEnd(text: string, start: number): number {
  const found = text.indexOf('\n', start);
  return found < 0 ? text.length : found;
}

/** Lines without line ends and trailing spaces. */
export function* linesOf(text: string, within?: Span): Generator<Span> {
  const { start: first, end: last } = within ?? { start: 0, end: text.length };
  for (let start = first; start < last; ) {
    const found = text.indexOf('\n', start);
    const next = found < 0 || found >= last ? last : found;
    let end = next;
    while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
    yield { start, end };
    start = next + 1;
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 13;
}
