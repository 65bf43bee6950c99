/**
 * Metadata of documents. `items.metadata` is what the submitter stated, `crawls.metadata` the same
 * for pages that are found later, `texts.metadata` what the text states of itself, and
 * `documents.metadata` the current result. `document_metadata` is its index: one row per value.
 */
import type { Migration } from '../../driver/migrate.ts';

/** Compared byte by byte, so that ranges are the same in every database and locale. */
const table = (text: string): string => `CREATE TABLE document_metadata (
  corpus TEXT NOT NULL,
  caller TEXT NOT NULL,
  key ${text} NOT NULL,
  kind {int} NOT NULL,
  number {real} NOT NULL,
  text ${text} NOT NULL,
  document_id TEXT NOT NULL,
  PRIMARY KEY (corpus, caller, key, kind, number, text, document_id)
) {clustered}`;

export const metadata: Migration = {
  version: 41,
  name: 'metadata',
  statements: () => [
    'ALTER TABLE items ADD COLUMN metadata TEXT',
    'ALTER TABLE crawls ADD COLUMN metadata TEXT',
    'ALTER TABLE texts ADD COLUMN metadata TEXT',
    'ALTER TABLE documents ADD COLUMN metadata TEXT',
    // A change of metadata is an event that copies in memory follow.
    'DROP INDEX events_content',
    `CREATE INDEX events_content ON events (seq) WHERE kind IN (
      'generation_flipped', 'document_deleted', 'corpus_deleted', 'metadata_changed')`,
  ],
  sqlite: [
    table('TEXT'),
    'CREATE INDEX document_metadata_document ON document_metadata (document_id)',
  ],
  postgres: [
    table('TEXT COLLATE "C"'),
    'CREATE INDEX document_metadata_document ON document_metadata (document_id)',
  ],
};
