/**
 * Bytes that are few stand in the row of the click that took them, and need no file. No statement
 * looks for chunks by their document, and the index for it cost a page for each document.
 */
import type { Migration } from '../../driver/migrate.ts';

export const smallBytes: Migration = {
  version: 21,
  name: 'small bytes',
  statements: () => ['ALTER TABLE fetches ADD COLUMN body {bytes}', 'DROP INDEX chunks_document'],
  sqlite: [],
  postgres: [],
};
