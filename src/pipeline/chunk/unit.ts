/**
 * The pieces that are never cut unless they are longer than a chunk: sentences, list items, rows of
 * a table, lines of code. Each is counted once, with the space before it, as the tokenizer sees it
 * in running text; so the sum of the counts is that of the whole, or one more for a boundary.
 */
import { type Block, linesOf, type Span } from './block.ts';
import type { TokenMap } from './token/tokens.ts';

interface Counted extends Span {
  readonly tokens: number;
}

export interface Unit extends Counted {
  readonly block: Block;
}

/** A longer piece is cut into words first, so that no more than this is counted at once. */
const countedCharactersMax = 4096;
const wordCharactersMax = 64;
/** What is cut by force may have a few more tokens as a whole than its words have one by one. */
const forcedShare = 0.8;
/** The first word of a chunk has no space before it, and may take more tokens for that. */
const boundaryTokens = 8;
const sentenceEnd = /[.!?…]["'”’)\]]{0,3}\s+|[。！？]+\s*/g;

/** The units of a block. `previousEnd` is where the text before the block ends. */
export function unitsOf(text: string, block: Block, limit: UnitLimit): Unit[] {
  const units: Unit[] = [];
  let { previousEnd } = limit;
  for (const span of spansOf(text, block)) {
    for (const counted of countedUnits(text, span, { ...limit, previousEnd })) {
      const { start, end, tokens } = counted;
      units.push({ start, end, tokens, block });
      previousEnd = counted.end;
    }
  }
  return units;
}

export interface UnitLimit {
  /** Of the whole text. */
  readonly tokens: TokenMap;
  readonly tokensMax: number;
  readonly previousEnd: number;
}

function spansOf(text: string, block: Block): Iterable<Span> {
  return block.kind === 'paragraph' ? sentencesOf(text, block) : nonEmpty(linesOf(text, block));
}

function* nonEmpty(spans: Iterable<Span>): Generator<Span> {
  for (const span of spans) if (span.end > span.start) yield span;
}

function* sentencesOf(text: string, block: Span): Generator<Span> {
  let { start } = block;
  for (const match of text.slice(block.start, block.end).matchAll(sentenceEnd)) {
    const next = block.start + match.index + match[0].length;
    yield { start, end: start + text.slice(start, next).trimEnd().length };
    start = next;
  }
  if (start < block.end) yield { start, end: block.end };
}

function* countedUnits(text: string, span: Span, limit: UnitLimit): Generator<Counted> {
  if (span.end - span.start <= countedCharactersMax) {
    // Between blocks there may be any amount of space.
    const from = Math.max(limit.previousEnd, span.start - wordCharactersMax);
    const running = limit.tokens.count(from, span.end);
    const isNear = running > limit.tokensMax - boundaryTokens;
    const tokens = isNear ? Math.max(running, limit.tokens.count(span.start, span.end)) : running;
    if (tokens <= limit.tokensMax) {
      yield { ...span, tokens };
      return;
    }
  }
  yield* packed(wordsOf(text, span, limit), limit.tokensMax * forcedShare);
}

/** As many words as fit, again and again. */
function* packed(words: Iterable<Counted>, tokensMax: number): Generator<Counted> {
  let open: Counted | undefined;
  for (const word of words) {
    if (open && open.tokens + word.tokens > tokensMax) {
      yield open;
      open = undefined;
    }
    open = {
      start: open?.start ?? word.start,
      end: word.end,
      tokens: (open?.tokens ?? 0) + word.tokens,
    };
  }
  if (open) yield open;
}

/** Words, and those that are too long for one in pieces that are certain to fit. */
function* wordsOf(text: string, span: Span, limit: UnitLimit): Generator<Counted> {
  let before = Math.max(limit.previousEnd, span.start - wordCharactersMax);
  for (const match of text.slice(span.start, span.end).matchAll(/\S+/g)) {
    const last = span.start + match.index + match[0].length;
    for (let start = span.start + match.index; start < last; ) {
      let end = Math.min(last, start + wordCharactersMax);
      // A pair of surrogates is one character.
      if (end < last && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
      const from = Math.max(before, start - wordCharactersMax);
      yield { start, end, tokens: limit.tokens.count(from, end) };
      start = end;
      before = end;
    }
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
