/**
 * The share of a document's text that was kept. Documents of older stores have none, and count as
 * fully read.
 */
import type { Migration } from '../../driver/migrate.ts';

export const keptShare: Migration = {
  version: 30,
  name: 'kept share',
  statements: () => [
    'ALTER TABLE documents ADD COLUMN kept_share {real}',
    // The number is that of `partlyReadBelow`: queries repeat it, and so they can use the index.
    `CREATE INDEX documents_partly_read ON documents (corpus, caller, id)
      WHERE kept_share < 0.8`,
  ],
  sqlite: [],
  postgres: [],
};
