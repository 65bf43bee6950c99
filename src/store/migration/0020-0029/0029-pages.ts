/** The page or slide on which a chunk begins, where its document has any. */
import type { Migration } from '../../driver/migrate.ts';

export const pages: Migration = {
  version: 29,
  name: 'pages',
  statements: () => ['ALTER TABLE chunks ADD COLUMN page {int}'],
  sqlite: [],
  postgres: [],
};
