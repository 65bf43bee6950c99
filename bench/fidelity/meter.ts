/**
 * The meter: compares the truth of a document with an extractor's result. Words, headings and table
 * rows are compared as multisets, so a repeated one must occur as often. What the truth lacks, or
 * an extractor cannot return, is undefined and not counted.
 */
export interface Readable {
  readonly words: readonly string[];
  /** Each as its words, joined by spaces. */
  readonly headings?: readonly string[] | undefined;
  /** Each as its non-empty cells, joined by bars. */
  readonly rows?: readonly string[] | undefined;
  readonly title?: string | undefined;
}

export interface Score {
  readonly words: number;
  readonly wordsLost: number;
  readonly wordsKept: number;
  /** Kept words that the truth does not have, or not as often. */
  readonly wordsNoise: number;
  readonly headings: number;
  readonly headingsLost: number;
  readonly rows: number;
  readonly rowsExact: number;
  readonly titles: number;
  readonly titlesRight: number;
  readonly documents: number;
  readonly documentsBelow: number;
}

/** A document that keeps a smaller share of its words counts as mostly lost. */
export const keptShareMin = 0.8;

export function compare(truth: Readable, given: Readable): Score {
  const kept = keptWords(truth, given);
  const words = truth.words.length;
  const found = words - subtract(truth.words, kept).length;
  return {
    words,
    wordsLost: words - found,
    wordsKept: kept.length,
    wordsNoise: kept.length - found,
    ...compareHeadings(truth, given),
    ...compareRows(truth, given),
    ...compareTitles(truth, given),
    documents: 1,
    documentsBelow: found < keptShareMin * words ? 1 : 0,
  };
}

export function sumScores(scores: readonly Score[]): Score {
  const sum = { ...emptyScore };
  const names = Object.keys(emptyScore) as (keyof Score)[];
  for (const score of scores) for (const name of names) sum[name] += score[name];
  return sum;
}

const emptyScore = {
  words: 0,
  wordsLost: 0,
  wordsKept: 0,
  wordsNoise: 0,
  headings: 0,
  headingsLost: 0,
  rows: 0,
  rowsExact: 0,
  titles: 0,
  titlesRight: 0,
  documents: 0,
  documentsBelow: 0,
};

/** A title that was removed from the text still counts as kept, if it belongs to the truth. */
export function keptWords(truth: Readable, given: Readable): readonly string[] {
  const { words, title = '', headings = [] } = given;
  const own = withoutNumber(title);
  const isHeading = headings.some((heading) => withoutNumber(heading) === own);
  const isApart = truth.headings !== undefined && title !== '' && !isHeading;
  return isApart ? [...title.split(' '), ...words] : words;
}

/** The title may replace one heading: most extractors return it separately from the text. */
function compareHeadings(truth: Readable, given: Readable) {
  if (truth.headings === undefined || given.headings === undefined) {
    return { headings: 0, headingsLost: 0 };
  }
  const wanted = truth.headings.map(withoutNumber);
  const kept = given.headings.map(withoutNumber);
  const lost = subtract(wanted, kept);
  const isTitleLost = lost.includes(withoutNumber(given.title ?? ''));
  return { headings: wanted.length, headingsLost: lost.length - (isTitleLost ? 1 : 0) };
}

function compareRows(truth: Readable, given: Readable) {
  if (truth.rows === undefined || given.rows === undefined) return { rows: 0, rowsExact: 0 };
  return { rows: truth.rows.length, rowsExact: countShared(truth.rows, given.rows) };
}

function compareTitles(truth: Readable, given: Readable) {
  if (truth.title === undefined || given.title === undefined) return { titles: 0, titlesRight: 0 };
  const isRight = withoutNumber(truth.title) === withoutNumber(given.title);
  return { titles: 1, titlesRight: isRight ? 1 : 0 };
}

/** Words as in a search: letters, marks and digits, without case. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** A row of a table as one string; merged cells may be empty or absent. */
export function rowOf(cells: readonly string[]): string {
  return cells
    .map((cell) => wordsOf(cell).join(' '))
    .filter((cell) => cell !== '')
    .join(' | ');
}

/** The elements of the first list, in order, that the second lacks. */
export function subtract(from: readonly string[], what: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const entry of what) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  return from.filter((entry) => {
    const count = counts.get(entry) ?? 0;
    if (count > 0) counts.set(entry, count - 1);
    return count === 0;
  });
}

function countShared(left: readonly string[], right: readonly string[]): number {
  return left.length - subtract(left, right).length;
}

/** Editions of a document number their headings differently: "Chapter 4. Tools" is "Tools". */
function withoutNumber(heading: string): string {
  const words = heading.split(' ');
  const isNumber = (at: number) => /^(?:\d{1,3}|[a-z]|[ivx]{1,5})$/.test(words[at] ?? '');
  let first = /^(?:chapter|appendix|part)$/.test(words[0] ?? '') && isNumber(1) ? 1 : 0;
  while (first < words.length - 1 && isNumber(first)) first += 1;
  return words.slice(first).join(' ');
}
