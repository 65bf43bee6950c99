/**
 * Splits text into chunks by structure. A heading starts a chunk. A paragraph, list, table or code
 * block is kept whole if it fits, else split between sentences, items, rows or lines. A chunk that
 * continues text repeats the last sentences, up to a bound; one that continues a table or code
 * repeats the header or the fence. Offsets point into the text: a chunk's text is
 * `text.slice(startOffset, endOffset)` between its opening and closing. Time is linear.
 */
import { hash } from 'node:crypto';
import { limits } from '../../kernel/limits/limits.ts';
import { type Chunking, defaultChunking } from '../../kernel/text/chunking.ts';
import type { NewChunk } from '../../store/document/chunks.ts';
import { type Block, blocksOf, type Span } from './block.ts';
import { type ChunkSlice, withText } from './chunker.ts';
import { type Frame, Frames } from './frame.ts';
import { isLabel } from './label.ts';
import { countText, TokenMap } from './token/tokens.ts';
import { type Unit, unitsOf } from './unit.ts';

export function splitText(text: string, bounds: Chunking = defaultChunking): NewChunk[] {
  return chunkSlicesOf(text, bounds).map((slice) => withText(text, slice));
}

export function chunkSlicesOf(text: string, bounds: Chunking = defaultChunking): ChunkSlice[] {
  const tokens = new TokenMap(text);
  const packing = new Packing(text, tokens, bounds);
  let previousEnd = 0;
  for (const block of blocksOf(text)) {
    const tokensMax = packing.unitTokensMax(block);
    packing.add(block, unitsOf(text, block, { tokens, tokensMax, previousEnd }));
    previousEnd = block.end;
  }
  return packing.finish();
}

interface Heading {
  readonly level: number;
  readonly title: string;
}

/** Units that are dropped one by one before a binary search finds the number that fits. */
const stepsMax = 4;

class Packing {
  readonly #text: string;
  readonly #tokens: TokenMap;
  readonly #bounds: Chunking;
  readonly #frames: Frames;
  readonly #headings: string[] = [];
  readonly #chunks: ChunkSlice[] = [];
  readonly #seen = new Map<string, number>();
  #open: Unit[] = [];
  #openTokens = 0;
  /** How many first units of the open chunk are overlap from the previous one. */
  #repeated = 0;
  /** Only headings so far: the next block belongs to them. */
  #isHeadingOnly = false;
  #openHeading = '';

  constructor(text: string, tokens: TokenMap, bounds: Chunking) {
    this.#text = text;
    this.#tokens = tokens;
    this.#bounds = bounds;
    this.#frames = new Frames(text, bounds.tokensMax);
  }

  /** The tokens of a chunk that are left for the text if the block must be split. */
  unitTokensMax(block: Block): number {
    const { tokensMax } = this.#bounds;
    if (!isFramed(block)) return tokensMax;
    if (this.#tokens.count(block.start, block.end) <= tokensMax) return tokensMax;
    const { openingTokens, closingTokens } = this.#frames.of(block);
    return tokensMax - openingTokens - closingTokens;
  }

  add(block: Block, units: readonly Unit[]): void {
    if (block.kind !== 'heading') {
      this.#addContent(block, units);
      this.#isHeadingOnly = false;
      return;
    }
    const line = this.#lineOf(block).trim();
    const level = /^#+/.exec(line)?.[0].length ?? 1;
    const title = line.replace(/^#+\s*|\s+#+$/g, '');
    if (isLabel(level, title)) this.#addContent(block, units);
    else this.#addHeading({ level, title }, units);
  }

  finish(): ChunkSlice[] {
    this.#flush();
    return this.#chunks;
  }

  #addContent(block: Block, units: readonly Unit[]): void {
    const total = units.reduce((sum, { tokens }) => sum + tokens, 0);
    const isWhole = total <= this.#bounds.tokensMax;
    if (isWhole && !this.#fits(total) && !this.#isHeadingOnly) this.#turn(block, total);
    if (this.#fits(total)) for (const unit of units) this.#push(unit);
    else this.#addInParts(block, units);
  }

  #addInParts(block: Block, units: readonly Unit[]): void {
    const frame = this.#frames.of(block);
    const { tokensMax } = this.#bounds;
    for (const unit of joinedEnds(units, frame, tokensMax)) {
      const closingTokens = isEnd(unit) ? 0 : frame.closingTokens;
      if (!this.#fits(unit.tokens + closingTokens)) this.#turn(block, unit.tokens);
      this.#push(unit);
    }
  }

  #addHeading({ level, title }: Heading, units: readonly Unit[]): void {
    if (!this.#isHeadingOnly) this.#flush();
    this.#headings.length = Math.min(this.#headings.length, level - 1);
    this.#headings[level - 1] = title;
    this.#isHeadingOnly = true;
    for (const unit of units) {
      if (!this.#fits(unit.tokens)) this.#flush();
      this.#push(unit);
    }
    this.#openHeading = this.#headings.filter(Boolean).join(' > ');
  }

  /** A heading is repeated in each chunk below it, so its length is limited. */
  #lineOf({ start, end }: Block): string {
    return this.#text.slice(start, Math.min(end, start + limits.document.headingCharactersMax));
  }

  #fits(tokens: number): boolean {
    return this.#openTokens + tokens <= this.#bounds.tokensMax;
  }

  #push(unit: Unit): void {
    if (this.#open.length === 0) {
      this.#openHeading = this.#headings.filter(Boolean).join(' > ');
      this.#openTokens = this.#openingOf(unit).tokens;
    }
    this.#open.push(unit);
    this.#openTokens += unit.tokens;
  }

  /** Ends the chunk and starts the next with its last sentences, if the next unit leaves room. */
  #turn(block: Block, neededTokens: number): void {
    const tail = this.#tail(neededTokens);
    this.#flush();
    if (block.kind !== 'paragraph' && block.kind !== 'list') return;
    for (const unit of tail) this.#push(unit);
    this.#repeated = tail.length;
  }

  #tail(neededTokens: number): Unit[] {
    const { tokensMax, overlapTokens } = this.#bounds;
    let room = Math.min(overlapTokens, tokensMax - neededTokens);
    let first = this.#open.length;
    // Overlap is not repeated again, and a chunk is never repeated whole.
    while (first > this.#repeated + 1) {
      const { tokens, block } = this.#open[first - 1] as Unit;
      // Rows and code lines are not sentences: they would need their header or fence again.
      if (tokens > room || isFramed(block)) break;
      room -= tokens;
      first -= 1;
    }
    return this.#open.slice(first);
  }

  #flush(): void {
    let units = this.#open;
    let repeated = this.#repeated;
    while (units.length > 0) {
      const { size, tokens } = this.#fitting(units);
      if (size > repeated) {
        this.#chunks.push(this.#toChunk(units[0] as Unit, units[size - 1] as Unit, tokens));
      }
      units = units.slice(size);
      repeated = 0;
      if (units.length > 0) this.#openHeading = this.#headings.filter(Boolean).join(' > ');
    }
    this.#open = [];
    this.#openTokens = 0;
    this.#repeated = 0;
    this.#isHeadingOnly = false;
  }

  /** How many of the units fit into one chunk; at least one. */
  #fitting(units: readonly Unit[]): { readonly size: number; readonly tokens: number } {
    const { tokensMax } = this.#bounds;
    let size = units.length;
    let tokens = this.#countFirst(units, size);
    // Usually all fit, or all but the last.
    for (let tries = 0; tokens > tokensMax && size > 1 && tries < stepsMax; tries += 1) {
      size -= 1;
      tokens = this.#countFirst(units, size);
    }
    if (tokens <= tokensMax || size === 1) return { size, tokens };
    let fits = 1;
    while (size - fits > 1) {
      const middle = (fits + size) >> 1;
      if (this.#countFirst(units, middle) <= tokensMax) fits = middle;
      else size = middle;
    }
    return { size: fits, tokens: this.#countFirst(units, fits) };
  }

  /**
   * Counted as a whole: across boundaries the tokenizer may split differently than in the units.
   */
  #countFirst(units: readonly Unit[], size: number): number {
    const [first, last] = [units[0] as Unit, units[size - 1] as Unit];
    const tokens = this.#tokens.count(first.start, last.end);
    return this.#openingOf(first).tokens + tokens + this.#closingOf(last).tokens;
  }

  #openingOf({ start, block }: Unit): Edge {
    if (!isFramed(block) || start === block.start) return noEdge;
    const { bodyStart, opening, openingTokens } = this.#frames.of(block);
    return start < bodyStart ? noEdge : { text: opening, tokens: openingTokens };
  }

  #closingOf(unit: Unit): Edge {
    if (!isFramed(unit.block) || isEnd(unit)) return noEdge;
    const { closing, closingTokens } = this.#frames.of(unit.block);
    return { text: closing, tokens: closingTokens };
  }

  #toChunk(first: Unit, last: Unit, tokens: number): ChunkSlice {
    const heading = this.#openHeading;
    const { start: startOffset } = first;
    const { end: endOffset } = last;
    const framed = this.#framed(first, last, tokens);
    const text = framed.opening + this.#text.slice(startOffset, endOffset) + framed.closing;
    const name = hash('sha256', `${heading}\0${text}`).slice(0, 24);
    const count = (this.#seen.get(name) ?? 0) + 1;
    this.#seen.set(name, count);
    return {
      key: count === 1 ? name : `${name}-${count}`,
      ordinal: this.#chunks.length,
      heading,
      startOffset,
      endOffset,
      ...framed,
    };
  }

  /** Opening and closing, and the total tokens, which may differ from the sum of the parts. */
  #framed(
    first: Unit,
    last: Unit,
    tokens: number,
  ): Pick<ChunkSlice, 'opening' | 'closing' | 'tokenCount'> {
    const edge = this.#openingOf(first);
    const [opening, closing] = [edge.text, this.#closingOf(last).text];
    if (opening === '' && closing === '') return { opening, closing, tokenCount: tokens };
    const part = { start: first.start, end: last.end };
    const tokenCount = this.#countFramed(edge, part, closing);
    if (tokenCount <= this.#bounds.tokensMax) return { opening, closing, tokenCount };
    // The token limit holds for every chunk; only a few exceed it and lose their frame.
    const bare = this.#tokens.count(first.start, last.end);
    return { opening: '', closing: '', tokenCount: bare };
  }

  /**
   * Exact, without counting the slice again: no token spans a line end into a non-blank line. The
   * last line is counted with the closing, whose line end may join it.
   */
  #countFramed(opening: Edge, { start, end }: Span, closing: string): number {
    const text = this.#text;
    const lastLine = closing === '' ? end : Math.max(text.lastIndexOf('\n', end - 1) + 1, start);
    const beginsWords = (place: number): boolean =>
      /^[^\S\r\n]{0,99}\S/.test(text.slice(place, place + 100));
    if (!beginsWords(start) || (lastLine < end && !beginsWords(lastLine))) {
      return countText(opening.text + text.slice(start, end) + closing);
    }
    const tail = closing === '' ? 0 : countText(text.slice(lastLine, end) + closing);
    return opening.tokens + this.#tokens.count(start, lastLine) + tail;
  }
}

/** The text before or after a chunk's slice of the document. */
interface Edge {
  readonly text: string;
  readonly tokens: number;
}

const noEdge: Edge = { text: '', tokens: 0 };

function isFramed({ kind }: Block): boolean {
  return kind === 'table' || kind === 'code';
}

function isEnd({ end, block }: Unit): boolean {
  return end >= block.end;
}

/**
 * The header of a table stays with the first row, and a fence with the adjacent line of code, so
 * that no chunk consists of them alone.
 */
function joinedEnds(units: readonly Unit[], frame: Frame, tokensMax: number): readonly Unit[] {
  const { bodyStart, closing, openingTokens, closingTokens } = frame;
  const headSize = units.findIndex(({ start }) => start >= bodyStart) + 1;
  const rest = units.slice(Math.max(headSize, 1));
  const head = joined(units.slice(0, Math.max(headSize, 1)), tokensMax - closingTokens);
  if (closing === '') return [...head, ...rest];
  const tail = joined(rest.slice(-2), tokensMax - openingTokens);
  return [...head, ...rest.slice(0, -2), ...tail];
}

function joined(units: readonly Unit[], tokensMax: number): readonly Unit[] {
  const [first, last] = [units[0], units.at(-1)];
  const tokens = units.reduce((sum, unit) => sum + unit.tokens, 0);
  if (!first || !last || tokens > tokensMax) return units;
  return [{ ...first, end: last.end, tokens }];
}
