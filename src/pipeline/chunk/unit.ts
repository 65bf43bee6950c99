/**
 * Units that are split only if they exceed a chunk: sentences, list items, table rows, lines of
 * code. Each is counted once, with the space before it, as the tokenizer sees it in running text.
 * So the sum of the counts is that of the whole, or one more per boundary.
 */
import { type Block, linesOf, type Span } from './block.ts';
import type { TokenMap } from './token/tokens.ts';

interface Counted extends Span {
  readonly tokens: number;
}

export interface Unit extends Counted {
  readonly block: Block;
}

/** A longer unit is first split into words, so that no more than this is counted at once. */
const countedCharactersMax = 4096;
const wordCharactersMax = 64;
/**
 * A unit that was split by force may have a few more tokens as a whole than the sum of its words.
 */
const forcedShare = 0.8;
/** The first word of a chunk has no space before it, which may cost extra tokens. */
const boundaryTokens = 8;
const sentenceEnd = /[.!?…]["'”’)\]]{0,3}\s+|[。！？]+\s*/g;

/** The units of a block. `previousEnd` is the end of the text before the block. */
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
  /** The token map of the whole text. */
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
    // There may be any amount of space between blocks.
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

/** Packs as many words as fit, repeatedly. */
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

/** Words; a word that is too long is split into pieces that are certain to fit. */
function* wordsOf(text: string, span: Span, limit: UnitLimit): Generator<Counted> {
  let before = Math.max(limit.previousEnd, span.start - wordCharactersMax);
  for (const match of text.slice(span.start, span.end).matchAll(/\S+/g)) {
    const last = span.start + match.index + match[0].length;
    for (let start = span.start + match.index; start < last; ) {
      let end = Math.min(last, start + wordCharactersMax);
      // Do not split a surrogate pair.
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
