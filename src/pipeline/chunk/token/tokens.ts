/**
 * Exact token counts of any slice of a text, equal to those of `gpt-tokenizer` for `cl100k_base`.
 * The encoding first splits a text into pieces (words, numbers, signs, space), whose tokens are
 * independent. So the pieces of the whole text are found and counted once. The pieces of a slice
 * are the same, except for the first few, until a piece boundary coincides, and for the last: only
 * these are counted again.
 */
import { type Characters, charactersOf, kind, widthAt } from './characters.ts';
import { PieceMemory } from './piece-memory.ts';
import { PieceTokens } from './piece-tokens.ts';

/** Text without spaces may be a single piece: it is counted only when needed. */
const pieceLengthMax = 256;
const blank = 32;
/** Contractions as in it's and we'll. Without the flag u, only ASCII letters match. */
const contraction = /'(?:[sdmt]|ll|ve|re)/iy;
const apostrophe = 39;

const pieceTokens = new PieceTokens();
/** A pure cache: it does not affect results. */
const memory = new PieceMemory((characters, start, end) =>
  pieceTokens.count(characters, start, end),
);

export function countText(text: string): number {
  return new TokenMap(text).count(0, text.length);
}

export class TokenMap {
  readonly #characters: Characters;
  /** The start of each piece, and at the end, the length of the text. */
  readonly #starts: Int32Array;
  /** The tokens of all pieces before this one, without the long ones. */
  readonly #sums: Int32Array;
  readonly #longPieces: readonly number[];
  /** The tokens of each long piece, once counted. */
  readonly #longTokens: Int32Array;
  readonly #size: number;

  constructor(text: string) {
    const characters = charactersOf(text);
    const longPieces: number[] = [];
    let starts = new Int32Array((text.length >> 2) + 16);
    let sums = new Int32Array(starts.length);
    let size = 0;
    let sum = 0;
    for (let start = 0; start < text.length; ) {
      const end = pieceEnd(characters, start, text.length);
      if (end - start > pieceLengthMax) longPieces.push(size);
      else sum += memory.get(characters, start, end);
      size += 1;
      if (size === starts.length) [starts, sums] = [doubled(starts), doubled(sums)];
      starts[size] = end;
      sums[size] = sum;
      start = end;
    }
    this.#characters = characters;
    this.#starts = starts;
    this.#sums = sums;
    this.#longPieces = longPieces;
    this.#longTokens = new Int32Array(longPieces.length);
    this.#size = size;
  }

  /** The tokens of `text.slice(start, end)`. */
  count(start: number, end: number): number {
    const { text } = this.#characters;
    if (splitsPair(text, start) || splitsPair(text, end)) {
      return countText(text.slice(start, end));
    }
    const first = lowerBound(this.#starts, this.#size, start);
    const last = this.#pieceBefore(end);
    let tokens = 0;
    let place = start;
    let piece = first;
    while (place < end && (piece >= last || this.#starts[piece] !== place)) {
      const next = pieceEnd(this.#characters, place, end);
      tokens += memory.get(this.#characters, place, next);
      place = next;
      while ((this.#starts[piece] as number) < place && piece < this.#size) piece += 1;
    }
    if (place >= end) return tokens;
    return tokens + this.#sumOf(piece, last) + this.#countFrom(this.#starts[last] as number, end);
  }

  #sumOf(from: number, to: number): number {
    let tokens = (this.#sums[to] as number) - (this.#sums[from] as number);
    const longs = this.#longPieces;
    for (let index = lowerBound(longs, longs.length, from); index < longs.length; index++) {
      const piece = longs[index] as number;
      if (piece >= to) break;
      tokens += this.#countLong(index, piece);
    }
    return tokens;
  }

  #countLong(index: number, piece: number): number {
    const known = this.#longTokens[index] as number;
    if (known > 0) return known;
    const [start, end] = [this.#starts[piece] as number, this.#starts[piece + 1] as number];
    const tokens = pieceTokens.count(this.#characters, start, end);
    this.#longTokens[index] = tokens;
    return tokens;
  }

  #countFrom(start: number, end: number): number {
    let tokens = 0;
    for (let place = start; place < end; ) {
      const next = pieceEnd(this.#characters, place, end);
      tokens += memory.get(this.#characters, place, next);
      place = next;
    }
    return tokens;
  }

  /** The last piece that does not depend on the text after `end`. */
  #pieceBefore(end: number): number {
    const { kinds } = this.#characters;
    let place = end - 1;
    // How space splits depends on what follows it.
    while (place > 0 && isSpace(kinds[place])) place -= 1;
    const piece = lowerBound(this.#starts, this.#size, place);
    return (this.#starts[piece] as number) > place ? piece - 1 : piece;
  }
}

/** The index of the first sorted value that is not below `sought`. */
function lowerBound(values: ArrayLike<number>, size: number, sought: number): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) < sought) low = middle + 1;
    else high = middle;
  }
  return low;
}

function doubled(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(values.length * 2);
  larger.set(values);
  return larger;
}

function isSpace(kindOfOne: number | undefined): boolean {
  return kindOfOne === kind.space || kindOfOne === kind.newline;
}

function splitsPair(text: string, place: number): boolean {
  return place > 0 && place < text.length && widthAt(text, place - 1) === 2;
}

/** The end of the piece at this position: the alternatives of the encoding's pattern, in order. */
function pieceEnd(characters: Characters, place: number, end: number): number {
  const { text, codes, kinds } = characters;
  const first = kinds[place] as number;
  if (first === kind.letter) return runEnd(kinds, place, end);
  if (first === kind.digit) return digitsEnd(characters, place, end);
  if (first === kind.newline) return spaceEnd(kinds, place, end);
  if (codes[place] === apostrophe) {
    const contracted = contractionEnd(text, place);
    if (contracted > 0 && contracted <= end) return contracted;
  }
  const next = place + (first === kind.pairedSign ? 2 : 1);
  const second = next < end ? (kinds[next] as number) : kind.none;
  if (second === kind.letter) return runEnd(kinds, next, end);
  const isSigns = first >= kind.sign || (second >= kind.sign && codes[place] === blank);
  return isSigns ? signsEnd(kinds, place + 1, end) : spaceEnd(kinds, place, end);
}

/** 0 if there is none. */
function contractionEnd(text: string, place: number): number {
  contraction.lastIndex = place;
  return contraction.test(text) ? contraction.lastIndex : 0;
}

function runEnd(kinds: Uint8Array, start: number, end: number): number {
  let place = start + 1;
  while (place < end && kinds[place] === kind.letter) place += 1;
  return place;
}

/** Up to three digits. */
function digitsEnd({ text, kinds }: Characters, start: number, end: number): number {
  let place = start;
  for (let count = 0; count < 3 && place < end && kinds[place] === kind.digit; count++) {
    place += widthAt(text, place);
  }
  return place;
}

/** Signs, and the line ends directly after them. */
function signsEnd(kinds: Uint8Array, from: number, end: number): number {
  let place = from;
  while (place < end && (kinds[place] as number) >= kind.sign) place += 1;
  while (place < end && kinds[place] === kind.newline) place += 1;
  return place;
}

/**
 * Space up to its last line end. Without a line end: all of it at the end of the text, otherwise
 * all but its last character, which belongs to the next piece.
 */
function spaceEnd(kinds: Uint8Array, start: number, end: number): number {
  let afterLine = 0;
  let place = start;
  for (; place < end && isSpace(kinds[place]); place++) {
    if (kinds[place] === kind.newline) afterLine = place + 1;
  }
  if (place === end) return end;
  return afterLine > 0 ? afterLine : Math.max(place - 1, start + 1);
}
