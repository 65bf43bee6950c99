/**
 * Text to chunks, by structure. A heading opens a chunk; a paragraph, list, table or piece of code
 * is kept whole if it fits into one, and otherwise cut between sentences, items, rows or lines. A
 * chunk that goes on where another ended repeats its last sentences, up to a bound. Offsets point
 * into the text: `text.slice(startOffset, endOffset)` is the chunk's text. Time is linear.
 */
import { hash } from 'node:crypto';
import { limits } from '../../kernel/limits.ts';
import type { NewChunk } from '../../store/chunks.ts';
import { type Block, blocksOf } from './block.ts';
import { TokenMap } from './tokens.ts';
import { type Unit, unitsOf } from './unit.ts';

export interface SplitLimits {
  readonly tokensMax: number;
  readonly overlapTokens: number;
}

const defaults: SplitLimits = {
  tokensMax: limits.document.chunkTokensMax,
  overlapTokens: limits.document.chunkOverlapTokens,
};

export function splitText(text: string, bounds: SplitLimits = defaults): NewChunk[] {
  const tokens = new TokenMap(text);
  const packing = new Packing(text, tokens, bounds);
  const { tokensMax } = bounds;
  let previousEnd = 0;
  for (const block of blocksOf(text)) {
    packing.add(block, unitsOf(text, block, { tokens, tokensMax, previousEnd }));
    previousEnd = block.end;
  }
  return packing.finish();
}

/** Units that are given up one by one before the number that fits is searched for. */
const stepsMax = 4;

class Packing {
  readonly #text: string;
  readonly #tokens: TokenMap;
  readonly #bounds: SplitLimits;
  readonly #headings: string[] = [];
  readonly #chunks: NewChunk[] = [];
  readonly #seen = new Map<string, number>();
  #open: Unit[] = [];
  #openTokens = 0;
  /** The first units of the open chunk that the one before it ended with. */
  #repeated = 0;
  /** Nothing but headings so far: what comes next belongs to them. */
  #isHeadingOnly = false;
  #openHeading = '';

  constructor(text: string, tokens: TokenMap, bounds: SplitLimits) {
    this.#text = text;
    this.#tokens = tokens;
    this.#bounds = bounds;
  }

  add(block: Block, units: readonly Unit[]): void {
    if (block.kind === 'heading') this.#addHeading(block, units);
    else this.#addContent(block, units);
  }

  finish(): NewChunk[] {
    this.#flush();
    return this.#chunks;
  }

  #addContent(block: Block, units: readonly Unit[]): void {
    const total = units.reduce((sum, { tokens }) => sum + tokens, 0);
    const isWhole = total <= this.#bounds.tokensMax;
    if (isWhole && !this.#fits(total) && !this.#isHeadingOnly) this.#turn(block, total);
    for (const unit of units) {
      if (!this.#fits(unit.tokens)) this.#turn(block, unit.tokens);
      this.#push(unit);
    }
    this.#isHeadingOnly = false;
  }

  #addHeading(block: Block, units: readonly Unit[]): void {
    if (!this.#isHeadingOnly) this.#flush();
    const line = this.#lineOf(block).trim();
    const level = /^#+/.exec(line)?.[0].length ?? 1;
    this.#headings.length = Math.min(this.#headings.length, level - 1);
    this.#headings[level - 1] = line.replace(/^#+\s*|\s+#+$/g, '');
    this.#isHeadingOnly = true;
    for (const unit of units) {
      if (!this.#fits(unit.tokens)) this.#flush();
      this.#push(unit);
    }
    this.#openHeading = this.#headings.filter(Boolean).join(' > ');
  }

  /** A heading stands in each chunk below it, so it must not be as long as a document. */
  #lineOf({ start, end }: Block): string {
    return this.#text.slice(start, Math.min(end, start + limits.document.headingCharactersMax));
  }

  #fits(tokens: number): boolean {
    return this.#openTokens + tokens <= this.#bounds.tokensMax;
  }

  #push(unit: Unit): void {
    if (this.#open.length === 0) this.#openHeading = this.#headings.filter(Boolean).join(' > ');
    this.#open.push(unit);
    this.#openTokens += unit.tokens;
  }

  /** Ends the chunk and begins the next with its last sentences, if what comes leaves room. */
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
    // What was repeated already is not repeated again, and a chunk is not repeated whole.
    while (first > this.#repeated + 1) {
      const { tokens } = this.#open[first - 1] as Unit;
      if (tokens > room) break;
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
        const start = (units[0] as Unit).start;
        this.#chunks.push(this.#toChunk({ start, end: endOf(units, size), tokens }));
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

  /** How many of the units fit into one chunk; the first does in any case. */
  #fitting(units: readonly Unit[]): { readonly size: number; readonly tokens: number } {
    const { tokensMax } = this.#bounds;
    let size = units.length;
    let tokens = this.#countFirst(units, size);
    // Most often all fit, or all but the last.
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

  /** As a whole: across boundaries the tokenizer may see something else than in the units. */
  #countFirst(units: readonly Unit[], size: number): number {
    return this.#tokens.count((units[0] as Unit).start, endOf(units, size));
  }

  #toChunk({ start: startOffset, end: endOffset, tokens }: Unit): NewChunk {
    const heading = this.#openHeading;
    const text = this.#text.slice(startOffset, endOffset);
    const name = hash('sha256', `${heading}\0${text}`).slice(0, 24);
    const count = (this.#seen.get(name) ?? 0) + 1;
    this.#seen.set(name, count);
    return {
      key: count === 1 ? name : `${name}-${count}`,
      ordinal: this.#chunks.length,
      heading,
      text,
      startOffset,
      endOffset,
      tokenCount: tokens,
    };
  }
}

function endOf(units: readonly Unit[], size: number): number {
  return (units[size - 1] as Unit).end;
}
