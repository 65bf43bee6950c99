/** Estimated numbers: the range, and the most likely value. */
export interface Range {
  readonly least: number;
  readonly likely: number;
  readonly most: number;
}

export function mapRange({ least, likely, most }: Range, change: (value: number) => number): Range {
  return { least: change(least), likely: change(likely), most: change(most) };
}

export function sumOf(one: Range, other: Range): Range {
  return {
    least: one.least + other.least,
    likely: one.likely + other.likely,
    most: one.most + other.most,
  };
}

export function timesOf(one: Range, other: Range): Range {
  return {
    least: one.least * other.least,
    likely: one.likely * other.likely,
    most: one.most * other.most,
  };
}

export interface Total {
  readonly count: number;
  readonly bytes: number;
}

/** Tokens are proportional to bytes; the spread in the sample gives the range. */
export function extrapolate<T extends { readonly bytes: number }>(
  looks: readonly T[],
  all: Total,
  amountOf: (look: T) => number,
): Range {
  const bytes = looks.reduce((total, look) => total + look.bytes, 0);
  const sum = looks.reduce((total, look) => total + amountOf(look), 0);
  if (bytes === 0) return { least: 0, likely: 0, most: 0 };
  const rate = sum / bytes;
  const squares = looks.reduce(
    (total, look) => total + (amountOf(look) - rate * look.bytes) ** 2,
    0,
  );
  const spread = looks.length > 1 ? Math.sqrt(squares / (looks.length - 1)) : 0;
  const unseen = 1 - looks.length / Math.max(all.count, 1);
  const error = (all.count / Math.sqrt(Math.max(looks.length, 1))) * spread * Math.sqrt(unseen);
  const likely = rate * all.bytes;
  return { least: Math.max(0, likely - 2 * error), likely, most: likely + 2 * error };
}
