/** Where the indexes of large corpora are saved: beside an embedded store. */
import { join } from 'node:path';
import { SavedCopies } from '../search/saved/saved-copies.ts';
import type { Database } from '../store/driver/database.ts';
import { packageVersion } from './version.ts';

export interface SavedIndexesOptions {
  /** The data folder. */
  readonly data: string;
  readonly database: Database;
  readonly onError: (what: string, error: unknown) => void;
  /** Smaller indexes are not saved; limited by `limits.search` if absent. */
  readonly chunksMin?: number | undefined;
}

/** Undefined for a store that is not in the data folder. */
export function savedIndexes({
  data,
  database,
  ...options
}: SavedIndexesOptions): SavedCopies | undefined {
  if (database.dialect.name !== 'sqlite') return undefined;
  const folder = join(data, 'index');
  const version = packageVersion();
  return new SavedCopies({ ...options, folder, database: database.early, version });
}
