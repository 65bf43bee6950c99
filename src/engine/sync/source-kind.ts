/**
 * The port for kinds of sources: what a place that a corpus follows must be able to do. A kind
 * lists its documents, and either names something that a job can read, or reads the bytes itself.
 * The engine compares, decides and applies.
 */
import type { Failure } from '../../kernel/failure/failure.ts';
import type { NewSource } from '../../store/job/submit.ts';

/** The options that a caller gives a source. Kinds ignore those that they have no use for. */
export interface SyncOptions {
  /** Globs on keys. With any, only what one of them matches is listed. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** Follows links inside a folder to files outside of it. */
  readonly followLinks?: boolean | undefined;
  /** The branch of a repository. */
  readonly branch?: string | undefined;
  /** How many links a crawl goes from its first page. */
  readonly depth?: number | undefined;
  /** How many documents a source may have. */
  readonly limit?: number | undefined;
  /** The server of a bucket. */
  readonly endpoint?: string | undefined;
  /** The budget of a run, for all of its jobs together. */
  readonly budgetCents?: number | undefined;
  /** A run that would remove a larger share of the documents is held. */
  readonly holdAbovePercent?: number | undefined;
  readonly lane?: 'now' | 'cheap' | undefined;
  readonly priority?: number | undefined;
}

export interface FollowedPlace {
  readonly location: string;
  readonly options: SyncOptions;
}

export interface Listed {
  /** Identifies the document within its source. */
  readonly key: string;
  /**
   * Evidence of the content: equal stamps mean equal content. Null: there is none. One that begins
   * with `unsettled` proves nothing yet: the content may change without another stamp.
   */
  readonly stamp: string | null;
  /** In bytes; null: not known before it is read. */
  readonly size: number | null;
  /** The content, if the listing has read it. */
  readonly bytes?: Uint8Array | undefined;
}

export const unsettled = '~';

export interface ListedPage {
  readonly entries: readonly Listed[];
  /** Parts that could not be listed. With any, a run removes nothing. */
  readonly problems: readonly Failure[];
  /** Keys that the source says it will never have again. */
  readonly gone?: readonly string[] | undefined;
  /** Passed to the next listing, if this run applies everything that it found. */
  readonly cursor?: string | undefined;
}

export interface ListFrom {
  /** The listing continues after this key; empty: it begins. */
  readonly after: string;
  readonly signal: AbortSignal;
  /** What the last listing left; null: nothing. */
  readonly cursor?: string | null | undefined;
  /** The stamps that these keys had in the last run, for conditional requests. */
  readonly stamps: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export interface SourceKind {
  readonly name: string;
  /** Returns the location in its stored form. Throws if it cannot be followed. */
  check(place: FollowedPlace): Promise<string>;
  /**
   * Everything after a key, in the order of the bytes of the keys. Throws if the listing cannot be
   * completed: what it has not named counts as missing only after it has ended.
   */
  list(place: FollowedPlace, from: ListFrom): AsyncIterable<ListedPage>;
  /**
   * `listed`: a document that a complete listing lacks is removed. `twice`: only if two listings in
   * a row lack it, or if it is gone. `gone`: only if it is gone. Default: `listed`.
   */
  readonly removal?: 'listed' | 'twice' | 'gone' | undefined;
  /**
   * The content: that of the stamp, if the source still has it, else the present one. Undefined:
   * the source has it no more. Absent: a job reads what is named.
   */
  read?(
    place: FollowedPlace,
    key: string,
    options: { readonly signal: AbortSignal; readonly stamp?: string | null | undefined },
  ): Promise<Uint8Array | undefined>;
  /**
   * SHA-256 of the content in hex; undefined: it cannot be read. Without it, and without `read`,
   * stamps alone decide.
   */
  digest?(place: FollowedPlace, key: string): Promise<string | undefined>;
  /** Whether the source has it now, and its options want it. Asked before it is removed. */
  has?(place: FollowedPlace, key: string): Promise<boolean>;
  /** True: the names are addresses of pages, whose content tells whether they are HTML. */
  readonly hasPages?: boolean | undefined;
  /** The name of the document, and how it is submitted. With `read`, only the name counts. */
  sourceOf(place: FollowedPlace, key: string): NewSource;
  /** Documents whose source begins with this text belong to the place. */
  prefixOf?(place: FollowedPlace): string | undefined;
}

/** Compares keys by the bytes of their UTF-8, as both databases do. */
export function compareKeys(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const unit = one.charCodeAt(at);
    const otherUnit = other.charCodeAt(at);
    if (unit === otherUnit) continue;
    if (!isHalf(unit) && !isHalf(otherUnit)) return unit - otherUnit;
    // Only the halves of a pair do not have the order of their bytes.
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return one.length - other.length;
}

function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
