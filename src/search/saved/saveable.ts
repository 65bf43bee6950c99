/** An index in memory that can be saved to a file, and made from it. */
import type { Source } from './saved-file.ts';

export interface Saveable {
  /** Chunks. */
  readonly size: number;
  /** Changes with every change of the content. */
  readonly version: number;
  /** Its content, and the same again only as long as the version is the same. */
  pieces(): Iterable<Uint8Array>;
  /** Takes over what was saved. It must be empty. */
  restore(source: Source): Promise<void>;
}
