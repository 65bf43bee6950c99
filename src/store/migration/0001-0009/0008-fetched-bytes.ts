/** What is known of fetched bytes: their encoding, and which are in use; and a job's tokens. */
import type { Migration } from '../../driver/migrate.ts';

export const fetchedBytes: Migration = {
  version: 8,
  name: 'fetched-bytes',
  statements: () => [
    'ALTER TABLE fetches ADD COLUMN charset TEXT',
    'CREATE INDEX fetches_blob ON fetches (blob_key)',
    'ALTER TABLE jobs ADD COLUMN tokens_estimated {int} NOT NULL DEFAULT 0',
  ],
  sqlite: [],
  postgres: [],
};
