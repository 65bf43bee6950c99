/** What is asked of the words of a corpus, and what they answer. */
import type { PlaceFilter, VectorHit } from '../vector/partition.ts';
import type { Top } from '../vector/top.ts';

/** A term, or the terms that one word may have in the languages of the corpus. */
export type Sought = string | readonly string[];

export interface WordSearch {
  /** As the analysis returns them. */
  readonly terms: readonly Sought[];
  /** Per term; 1 if absent. */
  readonly weights?: readonly number[] | undefined;
  /** A chunk must have each of these, and none of the excluded ones. */
  readonly required?: readonly Sought[] | undefined;
  readonly excluded?: readonly Sought[] | undefined;
  readonly size: number;
  /** False: neither `matched` nor `generations` is needed. */
  readonly isCounted?: boolean | undefined;
  readonly allowed?: PlaceFilter | undefined;
}

/** What a search collects from the slots that it looks at. */
export interface Tally {
  readonly top: Top;
  readonly isCounted: boolean;
  readonly isFit: ((slot: number) => boolean) | undefined;
  readonly allowed: PlaceFilter | undefined;
  readonly generations: Set<number>;
  matched: number;
}

export interface WordsFound {
  /** Best first; of equal ones the older first. */
  readonly hits: VectorHit[];
  /** How many chunks have any of the terms. */
  readonly matched: number;
  /** Their generations. */
  readonly generations: ReadonlySet<number>;
  /** No chunk can have a higher score for these terms. */
  readonly bound: number;
}
