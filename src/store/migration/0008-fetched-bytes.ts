/** What is known of fetched bytes: their encoding, and, for sweeping, which of them are in use. */
import type { Migration } from '../migrate.ts';

export const fetchedBytes: Migration = {
  version: 8,
  name: 'fetched-bytes',
  statements: () => [
    'ALTER TABLE fetches ADD COLUMN charset TEXT',
    'CREATE INDEX fetches_blob ON fetches (blob_key)',
  ],
  sqlite: [],
  postgres: [],
};
