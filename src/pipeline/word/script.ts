/**
 * Which characters form words, and how. Most scripts write spaces between words. Chinese, Japanese
 * and Korean are read as overlapping pairs of characters. Thai, Lao, Burmese and Khmer have no
 * spaces; a dictionary finds their words.
 */
export const noWord = 0;
export const spacedWord = 1;
export const pairedWord = 2;
export const unspacedWord = 3;

export type WordKind = typeof spacedWord | typeof pairedWord | typeof unspacedWord;

const paired =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc\uff70]/u;
const unspaced = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Khmer}]/u;
const word = /[\p{L}\p{N}\p{M}]/u;
const unknown = 255;

export interface Token {
  readonly start: number;
  readonly end: number;
  readonly kind: WordKind;
}

/** Splits texts into words, and remembers the kind of each character. */
export class WordSplitter {
  /** The kind of each UTF-16 code unit. */
  readonly #kinds = new Uint8Array(0x10000).fill(unknown);
  #segmenter: Intl.Segmenter | undefined;

  kindOf(code: number): number {
    const known = this.#kinds[code] as number;
    if (known !== unknown) return known;
    const kind = newKind(String.fromCharCode(code));
    this.#kinds[code] = kind;
    return kind;
  }

  /**
   * The words of a text. A query has single Han characters only where they stand alone, because
   * their pairs say more.
   */
  tokensOf(text: string, of: 'text' | 'query' = 'text'): Token[] {
    const tokens: Token[] = [];
    let start = 0;
    let before = noWord;
    for (let place = 0; place <= text.length; place++) {
      const kind = place < text.length ? this.kindOf(text.charCodeAt(place)) : noWord;
      if (kind === before) continue;
      if (before === spacedWord) tokens.push({ start, end: place, kind: spacedWord });
      else if (before === pairedWord) tokens.push(...pairsOf(text, { start, end: place }, of));
      else if (before === unspacedWord) tokens.push(...this.dictionaryWords(text, start, place));
      start = place;
      before = kind;
    }
    return tokens;
  }

  /** Splits text without spaces. The dictionary comes with Node; the locale does not choose it. */
  *dictionaryWords(text: string, start: number, end: number): Generator<Token> {
    this.#segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
    for (const { index, segment, isWordLike } of this.#segmenter.segment(text.slice(start, end))) {
      if (!isWordLike) continue;
      yield { start: start + index, end: start + index + segment.length, kind: unspacedWord };
    }
  }
}

function* pairsOf(
  text: string,
  { start, end }: { start: number; end: number },
  of: 'text' | 'query',
): Generator<Token> {
  const kind = pairedWord;
  if (end - start === 1) yield { start, end, kind };
  for (let place = start; end - start > 1 && place < end; place++) {
    if (of === 'text' && isHan(text.charCodeAt(place))) {
      yield { start: place, end: place + 1, kind };
    }
    if (place + 2 <= end) yield { start: place, end: place + 2, kind };
  }
}

function newKind(character: string): number {
  if (!word.test(character)) return noWord;
  if (paired.test(character)) return pairedWord;
  return unspaced.test(character) ? unspacedWord : spacedWord;
}

const han = /\p{Script=Han}/u;

/** A Han character is a word of its own as well. */
export function isHan(code: number): boolean {
  return code >= 0x2e80 && han.test(String.fromCharCode(code));
}
