/**
 * Text to chunks, by structure: a heading opens a chunk, paragraphs are kept whole where they fit,
 * and longer ones are cut at sentences, then at words. Offsets point into the text. One pass.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../kernel/limits.ts';
import type { NewChunk } from '../../store/chunks.ts';

/** A token is about four characters of English: an estimate that needs no vocabulary. */
const charactersPerToken = 4;
const charactersMax = limits.document.chunkTokensMax * charactersPerToken;

/** A heading stands in every chunk below it: a long one is cut. */
const headingCharactersMax = 200;

interface Span {
  readonly start: number;
  readonly end: number;
}

export function splitText(text: string): NewChunk[] {
  const chunks: NewChunk[] = [];
  const headings: string[] = [];
  let open: Span | undefined;
  let openHeading = '';
  const flush = (): void => {
    if (open) chunks.push(toChunk(text, open, openHeading, chunks.length));
    open = undefined;
  };
  for (const block of blocksOf(text)) {
    const heading = headingOf(text.slice(block.start, block.end));
    if (heading) {
      flush();
      headings.length = Math.min(headings.length, heading.level - 1);
      headings[heading.level - 1] = heading.text;
    }
    for (const piece of piecesOf(text, block)) {
      if (open && piece.end - open.start > charactersMax) flush();
      if (!open) openHeading = headings.filter(Boolean).join(' > ');
      open = { start: open?.start ?? piece.start, end: piece.end };
    }
  }
  flush();
  return chunks;
}

/** Paragraphs: runs of lines between empty ones; a heading line is a block of its own. */
function* blocksOf(text: string): Generator<Span> {
  let open: Span | undefined;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf('\n', start);
    const lineEnd = found < 0 ? text.length : found;
    const end = start + text.slice(start, lineEnd).trimEnd().length;
    const isBlank = end === start;
    const isHeading = /^#{1,6} /.test(text.slice(start, start + 7));
    if (open && (isBlank || isHeading)) {
      yield open;
      open = undefined;
    }
    if (isHeading && !isBlank) yield { start, end };
    else if (!isBlank) open = { start: open?.start ?? start, end };
    start = lineEnd + 1;
  }
  if (open) yield open;
}

function headingOf(block: string): { level: number; text: string } | undefined {
  const match = /^(#{1,6}) ([^\n]+)$/.exec(block);
  const text = match?.[2]?.trim().slice(0, headingCharactersMax).toWellFormed();
  return match ? { level: match[1]?.length ?? 1, text: text ?? '' } : undefined;
}

/** Cuts a block that is too long at the last sentence, or else the last space, that still fits. */
function* piecesOf(text: string, block: Span): Generator<Span> {
  let { start } = block;
  while (block.end - start > charactersMax) {
    const window = text.slice(start, start + charactersMax);
    const cut = start + (lastOf(window, /[.!?]\s/g) ?? lastOf(window, /\s/g) ?? wholeOf(window));
    yield { start, end: cut };
    start = cut;
  }
  if (start < block.end) yield { start, end: block.end };
}

/** Not between the two halves of one character. */
function wholeOf(window: string): number {
  const last = window.charCodeAt(window.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? window.length - 1 : window.length;
}

function lastOf(window: string, pattern: RegExp): number | undefined {
  let last: number | undefined;
  for (const match of window.matchAll(pattern)) last = match.index + match[0].length;
  return last;
}

function toChunk(text: string, span: Span, heading: string, ordinal: number): NewChunk {
  const body = text.slice(span.start, span.end);
  return {
    key: createHash('sha256').update(`${heading}\0${body}`).digest('hex').slice(0, 24),
    ordinal,
    heading,
    text: body,
    startOffset: span.start,
    endOffset: span.end,
    tokenCount: Math.ceil(body.length / charactersPerToken),
  };
}
