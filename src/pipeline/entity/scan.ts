/**
 * Finds candidates for names: runs of capitalised words, with connectors between them. One pass
 * over the text; each character is read at most a fixed number of times.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Block } from '../chunk/block.ts';
import {
  connectors,
  nationalities,
  offices,
  organizationHeads,
  otherHeads,
  placeHeads,
  plainAcronyms,
  plainCapitals,
  sentenceOpeners,
  titles,
} from './indicator-words.ts';
import type { Lexicon } from './lexicon.ts';
import { marks } from './lexicon.ts';

/** A run of words that may be a name. */
export interface Candidate {
  readonly start: number;
  readonly end: number;
  /** Its words, in lower case. */
  readonly words: readonly string[];
  /** The first word is capitalised because it starts a sentence. */
  readonly opensSentence: boolean;
  /** A title before the name, which is not part of it. */
  readonly title: string;
  /** The index of the sentence in the document. */
  readonly sentence: number;
  readonly inHeading: boolean;
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly lower: string;
}

const runWordsMax = 10;

/** All candidates of one block. `sentence` is the index of its first sentence. */
export class Scanner {
  readonly #text: string;
  readonly #lexicon: Lexicon;
  #sentence = 0;
  /** Lines of a paragraph are one text; lines of a list or a table are separate. */
  #isFlowing = true;

  constructor(text: string, lexicon: Lexicon) {
    this.#text = text;
    this.#lexicon = lexicon;
  }

  scan(block: Block): Candidate[] {
    const found: Candidate[] = [];
    const { kind, end } = block;
    const inHeading = kind === 'heading';
    let opens = true;
    this.#sentence += 1;
    this.#isFlowing = kind === 'paragraph';
    for (let at = block.start; at < end; ) {
      const code = this.#text.charCodeAt(at);
      if (isLetterOrDigit(code)) {
        const stop = wordEnd(this.#text, at, end);
        if (isUpper(code)) {
          const words = this.#run(at, stop, end);
          const place = { opensSentence: opens, sentence: this.#sentence, inHeading };
          this.#add(found, words, place);
          at = Math.max(words.at(-1)?.end ?? stop, stop);
        } else at = stop;
        opens = false;
      } else {
        const mark = markAt(this.#text, at, end);
        if (mark.opens || (mark.isLineEnd && !this.#isFlowing)) opens = true;
        if (mark.isBreak || (mark.isLineEnd && !this.#isFlowing)) this.#sentence += 1;
        at = mark.next;
      }
    }
    return found;
  }

  /** The words of the run that starts here. */
  #run(start: number, stop: number, end: number): Word[] {
    const words = [wordAt(this.#text, start, stop)];
    while (words.length < runWordsMax) {
      const next = this.#follow(words, end);
      if (!next) break;
      words.push(...next);
    }
    return words;
  }

  /** The words that continue the run; undefined if it ends. */
  #follow(words: Word[], end: number): Word[] | undefined {
    const text = this.#text;
    const last = words.at(-1) as Word;
    let at = last.end;
    if (text.charCodeAt(at) === 46 && endsWithoutSentence(last)) {
      at += 1;
      words[words.length - 1] = { ...last, end: at };
    }
    const comma = text.charCodeAt(at) === 44 ? 1 : 0;
    if (!this.#isGap(at + comma)) return undefined;
    const next = this.#wordFrom(at + comma + 1, end);
    if (!next) return undefined;
    if (comma > 0) return isCompanySuffix(next.lower) ? [next] : undefined;
    if (isUpper(text.charCodeAt(next.start))) return [next];
    const isOffice = offices.has(words[0]?.lower ?? '');
    if (next.lower === 'of' && this.#isPerson(words)) return undefined;
    if (next.lower === 'for' && !isOffice) return undefined;
    if (next.lower === 'and' && isOffice) return this.#acrossAnd(next, end);
    return connectors.has(next.lower) ? this.#acrossConnectors(next, end) : undefined;
  }

  /** "… of Resources and Mines" is one name, "… of Transport and Atlantic Ports" is two. */
  #acrossAnd(and: Word, end: number): Word[] | undefined {
    const words = this.#acrossConnectors(and, end);
    const last = words?.at(-1);
    if (!words || !last) return undefined;
    const next = this.#isGap(last.end) ? this.#wordFrom(last.end + 1, end) : undefined;
    return next && isUpper(this.#text.charCodeAt(next.start)) ? undefined : words;
  }

  /** "Dr. Sørensen of the University": the place a person is from is a separate name. */
  #isPerson(words: readonly Word[]): boolean {
    const [first] = words;
    if (titles.has(stem(first?.lower ?? ''))) return words.length > 1;
    const known = this.#lexicon.get(first?.lower ?? '') ?? 0;
    const isGiven = (known & marks.given) !== 0 && !(known & marks.frequent);
    return isGiven && words.length > 1 && !words.some(({ lower }) => isHead(lower));
  }

  #acrossConnectors(first: Word, end: number): Word[] | undefined {
    const text = this.#text;
    const words = [first];
    for (let count = 0; count < 2; count += 1) {
      const last = words.at(-1) as Word;
      if (!this.#isGap(last.end)) return undefined;
      const next = this.#wordFrom(last.end + 1, end);
      if (!next) return undefined;
      words.push(next);
      if (isUpper(text.charCodeAt(next.start))) return words;
      if (!connectors.has(next.lower)) return undefined;
    }
    return undefined;
  }

  #isGap(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === 32 || (code === 10 && this.#isFlowing);
  }

  #wordFrom(at: number, end: number): Word | undefined {
    if (at >= end) return undefined;
    const code = this.#text.charCodeAt(at);
    if (code === 38) return { start: at, end: at + 1, lower: '&' };
    if (!isLetterOrDigit(code) || isDigit(code)) return undefined;
    return wordAt(this.#text, at, wordEnd(this.#text, at, end));
  }

  /** Splits a run where one name ends and another begins, and drops what is not a name. */
  #add(
    found: Candidate[],
    run: readonly Word[],
    place: { opensSentence: boolean; sentence: number; inHeading: boolean },
  ): void {
    let { opensSentence } = place;
    for (const part of this.#partsOf(run)) {
      let words = part;
      let title = '';
      while (words.length > 0) {
        const { lower } = words[0] as Word;
        const isOpener = opensSentence && sentenceOpeners.has(lower) && !this.#isQuoted(words);
        const isTitle = titles.has(stem(lower));
        // "General Motors": a title that is part of an organisation's name.
        if (isTitle && words.length > 1 && !organizationHeads.has(words[1]?.lower ?? '')) {
          title = lower;
        } else if (!isOpener && !(words.length > 1 && this.#isLooseOpener(words, opensSentence))) {
          break;
        }
        words = words.slice(1);
        // The next word is capitalised on its own account.
        opensSentence = false;
      }
      while (words.length > 0 && connectors.has(words[0]?.lower ?? '') && words.length > 1) {
        if (isUpper(this.#text.charCodeAt((words[0] as Word).start))) break;
        words = words.slice(1);
      }
      const candidate = this.#candidateOf(words, { ...place, opensSentence, title });
      if (candidate) found.push(candidate);
      opensSentence = false;
    }
  }

  /** Quoted text starts with its own first word. */
  #isQuoted(words: readonly Word[]): boolean {
    const [first] = words;
    return words.length > 1 && isQuote(this.#text.charCodeAt((first?.start ?? 0) - 1));
  }

  /** "Founding Member", "Members of the": the first word is capitalised only by the sentence. */
  #isLooseOpener(words: readonly Word[], opensSentence: boolean): boolean {
    const { lower } = words[0] as Word;
    const known = this.#lexicon.get(lower) ?? 0;
    if (!opensSentence || !(known & marks.frequent) || known >= marks.given) return false;
    // "Members of the …", but not "Kings of Leon".
    const isPlural = lower.endsWith('s') && words[1]?.lower === 'of' && words[2]?.lower === 'the';
    return isPlural || /(?:ed|ing|ly)$/.test(lower);
  }

  /** "LED", but not "Led". */
  #isPlainAcronym({ start, lower }: Word): boolean {
    return plainAcronyms.has(lower) && isUpper(this.#text.charCodeAt(start + 1));
  }

  #isGiven(word: Word | undefined): boolean {
    return ((this.#lexicon.get(word?.lower ?? '') ?? 0) & marks.given) !== 0;
  }

  #partsOf(run: readonly Word[]): Word[][] {
    const parts: Word[][] = [[]];
    run.forEach((word, index) => {
      const isAdjective = index === 0 && run.length > 1 && nationalities.has(word.lower);
      if (index === 0 && isPlain(word.lower)) return;
      // "NASA Administrator Jim Bridenstine" is two names.
      const isTitle = index > 0 && titles.has(word.lower) && this.#isGiven(run[index + 1]);
      if (isTitle) parts.push([]);
      parts.at(-1)?.push(word);
      if (isAdjective && !isHead(run.at(-1)?.lower ?? '')) parts.push([]);
    });
    return parts.filter((part) => part.length > 0);
  }

  #candidateOf(
    words: readonly Word[],
    rest: Omit<Candidate, 'start' | 'end' | 'words'>,
  ): Candidate | undefined {
    const [first] = words;
    const last = words.at(-1);
    if (!first || !last) return undefined;
    const length = last.end - first.start;
    if (length < 2 || length > limits.document.entityNameCharactersMax) return undefined;
    const lowers = words.map(({ lower }) => lower);
    if (lowers.length === 1 && (isPlain(first.lower) || this.#isPlainAcronym(first)))
      return undefined;
    return { ...rest, start: first.start, end: last.end, words: lowers };
  }
}

function isPlain(lower: string): boolean {
  return plainCapitals.has(stem(lower)) || contraction.test(lower);
}

/** "I’m", "Don't". */
const contraction = /(?:n['’]t|['’](?:m|re|ve|ll|d))$/;

function isHead(lower: string): boolean {
  return organizationHeads.has(lower) || placeHeads.has(lower) || otherHeads.has(lower);
}

function wordAt(text: string, start: number, end: number): Word {
  return { start, end, lower: text.slice(start, end).toLowerCase() };
}

/** The full stop is part of the word: an initial, a title, a company form. */
function endsWithoutSentence({ lower, start, end }: Word): boolean {
  if (end - start === 1) return true;
  return titles.has(lower) || abbreviations.has(lower) || /^(?:\p{L}\.)+\p{L}$/u.test(lower);
}

const abbreviations = new Set('st ft mt jr sr inc ltd corp co bros no vs'.split(' '));

function isCompanySuffix(lower: string): boolean {
  return ['inc', 'ltd', 'llc', 'corp', 'co', 'plc', 'jr', 'sr'].includes(lower);
}

export function stem(lower: string): string {
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

const letterBeyondAscii = /[\p{L}\p{M}]/u;
const upperBeyondAscii = /\p{Lu}/u;

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isUpper(code: number): boolean {
  if (code < 128) return code >= 65 && code <= 90;
  return upperBeyondAscii.test(String.fromCharCode(code));
}

export function isLetterOrDigit(code: number): boolean {
  if (code < 128) {
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || isDigit(code);
  }
  // Letters of western Europe, and the dashes and quotes between words.
  if (code >= 0xc0 && code < 0x250) return code !== 0xd7 && code !== 0xf7;
  if (code >= 0x2000 && code < 0x2070) return false;
  return letterBeyondAscii.test(String.fromCharCode(code));
}

const joinsWords = new Set([39, 0x2019, 45, 46, 38]);

/**
 * The end of a word, including hyphens, apostrophes, the points of "U.S." and the sign of "AT&T".
 */
export function wordEnd(text: string, start: number, limit: number): number {
  let at = start + 1;
  while (at < limit) {
    const code = text.charCodeAt(at);
    if (isLetterOrDigit(code)) {
      at += 1;
      continue;
    }
    if (!joinsWords.has(code) || at + 1 >= limit) break;
    const next = text.charCodeAt(at + 1);
    if (!isLetterOrDigit(next) || (code === 46 && !isPointInside(text, at, start))) break;
    if (code === 38 && !isUpper(next)) break;
    if ((code === 39 || code === 0x2019) && isPossessive(text, at, limit)) break;
    at += 1;
  }
  return at;
}

/** "U.S", not "end.Next". */
function isPointInside(text: string, at: number, start: number): boolean {
  const isSingle = at - start === 1 || text.charCodeAt(at - 2) === 46;
  return isSingle && isUpper(text.charCodeAt(at - 1));
}

function isPossessive(text: string, at: number, limit: number): boolean {
  const next = text.charCodeAt(at + 1);
  return next === 115 && (at + 2 >= limit || !isLetterOrDigit(text.charCodeAt(at + 2)));
}

interface Mark {
  readonly next: number;
  readonly opens: boolean;
  readonly isBreak: boolean;
  readonly isLineEnd: boolean;
}

/** The character between words: whether it ends a sentence, and where to continue. */
function markAt(text: string, at: number, end: number): Mark {
  const code = text.charCodeAt(at);
  const isLineEnd = code === 10;
  // `code`, and the target of a [link](…).
  if (code === 96) return { next: after(text, '`', at, end), ...plain };
  if (code === 93 && text.charCodeAt(at + 1) === 40) {
    return { next: after(text, ')', at + 1, end), ...plain };
  }
  const isEnd = code === 46 || code === 33 || code === 63;
  const isBreak = isEnd && !isLetterOrDigit(text.charCodeAt(at + 1));
  const opens = isEnd || code === 58 || code === 124 || isQuote(code);
  return { next: at + 1, opens, isBreak, isLineEnd };
}

const plain = { opens: false, isBreak: false, isLineEnd: false };

function after(text: string, mark: string, at: number, end: number): number {
  const found = text.slice(at + 1, Math.min(end, at + 500)).indexOf(mark);
  return found < 0 ? at + 1 : at + found + 2;
}

function isQuote(code: number): boolean {
  return code === 34 || code === 0x201c || code === 0x2018 || code === 0x2022;
}
