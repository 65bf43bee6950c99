/** How many workers have died on a question is remembered with it. */
import type { Migration } from '../../driver/migrate.ts';

export const deaths: Migration = {
  version: 18,
  name: 'deaths',
  statements: () => ['ALTER TABLE handoffs ADD COLUMN deaths {int} NOT NULL DEFAULT 0'],
  sqlite: [],
  postgres: [],
};
