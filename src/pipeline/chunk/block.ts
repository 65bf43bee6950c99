/**
 * The structure of Markdown, as far as it matters for cutting: headings, fenced code, tables, lists
 * and paragraphs, each with its place in the text. One pass over the lines.
 */
export type BlockKind = 'heading' | 'code' | 'table' | 'list' | 'paragraph';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Block extends Span {
  readonly kind: BlockKind;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const tableRow = /^\s*\|/;

export function* blocksOf(text: string): Generator<Block> {
  let open: { kind: BlockKind; start: number; end: number; fence: string } | undefined;
  for (const line of linesOf(text)) {
    const content = text.slice(line.start, line.end);
    if (open?.kind === 'code') {
      open.end = line.end;
      if (!closesFence(content, open.fence)) continue;
      yield spanOf(open);
      open = undefined;
      continue;
    }
    const kind = kindOf(content, open?.kind);
    if (open && (kind === undefined || kind !== open.kind || kind === 'heading')) {
      yield spanOf(open);
      open = undefined;
    }
    if (kind === undefined) continue;
    open ??= { kind, start: line.start, end: line.end, fence: fence.exec(content)?.[1] ?? '' };
    open.end = line.end;
  }
  if (open) yield spanOf(open);
}

function spanOf({ kind, start, end }: Block): Block {
  return { kind, start, end };
}

/** Undefined: an empty line, which ends whatever is open. */
function kindOf(line: string, open: BlockKind | undefined): BlockKind | undefined {
  if (!/\S/.test(line)) return undefined;
  if (fence.test(line)) return 'code';
  if (heading.test(line)) return 'heading';
  if (tableRow.test(line)) return 'table';
  if (listItem.test(line)) return 'list';
  // A line without a mark goes on with the item before it.
  return open === 'list' ? 'list' : 'paragraph';
}

function closesFence(line: string, opened: string): boolean {
  const mark = fence.exec(line)?.[1];
  const isSame = mark !== undefined && mark[0] === opened[0] && mark.length >= opened.length;
  return isSame && line.trim() === mark;
}

/** Lines without what ends them, and without spaces at their end. */
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
