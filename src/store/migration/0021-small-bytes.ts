/** Bytes that are few stand in the row of the click that took them, and need no file. */
import type { Migration } from '../migrate.ts';

export const smallBytes: Migration = {
  version: 21,
  name: 'small bytes',
  statements: () => ['ALTER TABLE fetches ADD COLUMN body {bytes}'],
  sqlite: [],
  postgres: [],
};
