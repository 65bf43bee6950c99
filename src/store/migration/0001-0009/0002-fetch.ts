/** What fetching remembers between two visits: versions of pages, and the rules of sites. */
import type { Migration } from '../../driver/migrate.ts';

export const fetching: Migration = {
  version: 2,
  name: 'fetch',
  statements: () => [
    `CREATE TABLE validators (
      document_id TEXT PRIMARY KEY,
      as_of {int} NOT NULL,
      url TEXT NOT NULL,
      etag TEXT,
      last_modified TEXT,
      fetched_at {int} NOT NULL
    )`,
    `CREATE TABLE robots (
      origin TEXT PRIMARY KEY,
      status {int} NOT NULL,
      body TEXT NOT NULL,
      fetched_at {int} NOT NULL
    )`,
  ],
  sqlite: [],
  postgres: [],
};
