/** The two scores, each computed like its collection's own script. */
export interface Counts {
  readonly hits: number;
  readonly extra: number;
  readonly missed: number;
}

export interface Scores {
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
}

const shingleWords = 4;

/** Sequences of four words, counted as often as they occur in both texts. */
export function countShingles(truth: string, text: string): Counts {
  const wanted = shinglesOf(truth);
  const given = shinglesOf(text);
  let hits = 0;
  let extra = 0;
  let missed = 0;
  for (const shingle of new Set([...wanted.keys(), ...given.keys()])) {
    const wantedCount = wanted.get(shingle) ?? 0;
    const givenCount = given.get(shingle) ?? 0;
    hits += Math.min(wantedCount, givenCount);
    extra += Math.max(0, givenCount - wantedCount);
    missed += Math.max(0, wantedCount - givenCount);
  }
  return { hits, extra, missed };
}

function shinglesOf(text: string): Map<string, number> {
  const words = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  const shingles = new Map<string, number>();
  if (words.length === 0) return shingles;
  const last = Math.max(1, words.length - shingleWords + 1);
  for (let index = 0; index < last; index += 1) {
    const shingle = words.slice(index, index + shingleWords).join(' ');
    shingles.set(shingle, (shingles.get(shingle) ?? 0) + 1);
  }
  return shingles;
}

/** Segments that must be in the text, and segments that must not. */
export function countSegments(
  segments: { readonly with: readonly string[]; readonly without: readonly string[] },
  text: string,
): Counts {
  const flat = flatten(text);
  const hits = segments.with.filter((segment) => flat.includes(flatten(segment))).length;
  const extra = segments.without.filter((segment) => flat.includes(flatten(segment))).length;
  return { hits, extra, missed: segments.with.length - hits };
}

function flatten(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Each page counts the same, however long it is. */
export function meanScore(counts: readonly Counts[]): Scores {
  const answered = counts.filter(({ hits, extra }) => hits + extra > 0);
  const asked = counts.filter(({ hits, missed }) => hits + missed > 0);
  const precision = mean(answered.map(({ hits, extra }) => hits / (hits + extra)));
  const recall = mean(asked.map(({ hits, missed }) => hits / (hits + missed)));
  return { f1: harmonic(precision, recall), precision, recall };
}

/** Each segment counts the same, on any page. */
export function sumScore(counts: readonly Counts[]): Scores {
  const sum = { hits: 0, extra: 0, missed: 0 };
  for (const { hits, extra, missed } of counts) {
    sum.hits += hits;
    sum.extra += extra;
    sum.missed += missed;
  }
  const precision = sum.hits / Math.max(1, sum.hits + sum.extra);
  const recall = sum.hits / Math.max(1, sum.hits + sum.missed);
  return { f1: harmonic(precision, recall), precision, recall };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function harmonic(left: number, right: number): number {
  return left + right === 0 ? 0 : (2 * left * right) / (left + right);
}
