/**
 * The port for kinds of sources: what a place that a corpus follows must be able to do. A kind
 * lists its documents and says how each is submitted; the engine compares, decides and applies.
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
  /** The budget of each job that a run submits. */
  readonly budgetCents?: number | undefined;
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
  /** Evidence of the content: equal stamps mean equal content. Null: there is none. */
  readonly stamp: string | null;
  readonly size: number | null;
}

export interface ListedPage {
  readonly entries: readonly Listed[];
  /** Parts that could not be listed. With any, a run removes nothing. */
  readonly problems: readonly Failure[];
}

export interface SourceKind {
  readonly name: string;
  /** Returns the location in its stored form. Throws if it cannot be followed. */
  check(place: FollowedPlace): Promise<string>;
  /**
   * Everything after a key, in the order of the bytes of the keys. Throws if the listing cannot be
   * completed: what it has not named counts as missing only after it has ended.
   */
  list(
    place: FollowedPlace,
    from: { readonly after: string; readonly signal: AbortSignal },
  ): AsyncIterable<ListedPage>;
  /** SHA-256 of the content in hex; undefined: it cannot be read. Absent: stamps alone decide. */
  digest?(place: FollowedPlace, key: string): Promise<string | undefined>;
  /** Whether the source has it now. Asked before a document is removed. */
  has?(place: FollowedPlace, key: string): Promise<boolean>;
  /** How the document is submitted. */
  sourceOf(place: FollowedPlace, key: string): NewSource;
  /** Documents whose source begins with this text belong to the place. */
  prefixOf?(place: FollowedPlace): string | undefined;
}

/** Compares keys by the bytes of their UTF-8, as both databases do. */
export function compareKeys(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}
