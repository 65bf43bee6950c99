/**
 * Splits an answer into sentences as it arrives, and takes the citations out of them. A sentence is
 * complete when the text after it has begun, because its citations may follow its full stop. A
 * citation counts only if it names a passage that was given.
 */

export interface Sentence {
  /** Without its citations. */
  readonly text: string;
  /** Numbers of passages, from 1. */
  readonly citations: readonly number[];
  /** Whether a citation names a passage that was given. */
  readonly isSupported: boolean;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const citation = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;
/** Citations at the start belong to the sentence before. */
const leading = /^(?:[^\S\n]*\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\][.,;:!?。]*)+\s*/;

export class SentenceReader {
  readonly #passages: number;
  #rest = '';

  constructor(passages: number) {
    this.#passages = passages;
  }

  /** The sentences that are complete with this text. */
  add(text: string): Sentence[] {
    this.#rest += text;
    const parts = splitSentences(this.#rest);
    const last = parts.pop() ?? '';
    // What follows may still be a citation of the sentence before.
    const isBegun = /[\p{L}\p{N}]/u.test(last.replace(/^\s*\[[^\]]*\]?/, ''));
    if (!isBegun) return [];
    this.#rest = last;
    return this.#sentencesOf(parts);
  }

  /** The sentences that are left. */
  end(): Sentence[] {
    const parts = splitSentences(this.#rest);
    this.#rest = '';
    return this.#sentencesOf(parts);
  }

  #sentencesOf(parts: readonly string[]): Sentence[] {
    return parts.flatMap((part) => {
      const cited = [...part.matchAll(citation)].flatMap(([, numbers = '']) =>
        numbers.split(/[,;]/).map(Number),
      );
      const isGiven = (number: number): boolean => number >= 1 && number <= this.#passages;
      const citations = [...new Set(cited.filter(isGiven))];
      const text = part
        .replace(citation, '')
        .replace(/\s+([.,;:!?])/g, '$1')
        .replace(/\s+/g, ' ')
        .trim();
      if (!/[\p{L}\p{N}]/u.test(text)) return [];
      return [{ text, citations, isSupported: citations.length > 0 }];
    });
  }
}

function splitSentences(text: string): string[] {
  const parts: string[] = [];
  let open = '';
  for (const { segment } of segmenter.segment(text)) {
    const whole = open + segment;
    const [own = ''] = parts.length > 0 ? (leading.exec(whole) ?? []) : [];
    if (own !== '') parts[parts.length - 1] += own;
    // A bracket after a full stop opens a citation, but counts as the end of the sentence.
    open = whole.endsWith('[') ? '[' : '';
    const other = whole.slice(own.length, whole.length - open.length);
    if (other !== '') parts.push(other);
  }
  if (open !== '') parts.push(open);
  return parts;
}

/** A sentence with its citations, as people read it. */
export function citedText({ text, citations }: Sentence): string {
  return [text, ...citations.map((number) => `[${number}]`)].join(' ').replace(/\] \[/g, '][');
}
