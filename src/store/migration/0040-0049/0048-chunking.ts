/**
 * How the texts of a corpus are split: `TOKENS/OVERLAP`, null for the default. Each text records
 * what it is split by, and a document that of its current generation. `copied_from` is the
 * generation whose text was copied to be split again.
 */
import type { Migration } from '../../driver/migrate.ts';

export const chunking: Migration = {
  version: 48,
  name: 'chunking',
  statements: () => [
    'ALTER TABLE corpus_settings ADD COLUMN chunking TEXT',
    'ALTER TABLE documents ADD COLUMN chunking TEXT',
    'ALTER TABLE texts ADD COLUMN chunking TEXT',
    'ALTER TABLE texts ADD COLUMN copied_from {int}',
  ],
  sqlite: [
    'PRAGMA writable_schema = ON',
    `UPDATE sqlite_schema SET sql = replace(sql, '''crawl'', ''reembed''',
      '''crawl'', ''reembed'', ''rechunk''') WHERE name = 'jobs'`,
    'PRAGMA writable_schema = RESET',
  ],
  postgres: [
    'ALTER TABLE jobs DROP CONSTRAINT jobs_type_check',
    `ALTER TABLE jobs ADD CONSTRAINT jobs_type_check
      CHECK (type IN ('ingest', 'crawl', 'reembed', 'rechunk'))`,
  ],
};
