/** Seeded random numbers: the same seed gives the same sequence in every process. */
export interface Chance {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number from 0, less than the bound. */
  below(bound: number): number;
  /** True with this probability. */
  hits(probability: number): boolean;
}

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    hits: (probability) => next() < probability,
  };
}
