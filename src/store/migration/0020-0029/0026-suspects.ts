/**
 * Items that run alone because processes died while they held them, in a queue of their own. How
 * often an item stood still is no longer counted together with the deaths of its workers.
 */
import type { Migration } from '../../driver/migrate.ts';

export const suspects: Migration = {
  version: 26,
  name: 'suspects',
  statements: () => [
    'ALTER TABLE items ADD COLUMN lone_deaths {int} NOT NULL DEFAULT 0',
    'ALTER TABLE items ADD COLUMN stalls {int} NOT NULL DEFAULT 0',
    `CREATE TABLE suspects (
      lone_deaths {int} NOT NULL,
      rank {int} NOT NULL,
      item_id {int} NOT NULL,
      PRIMARY KEY (lone_deaths, rank, item_id)
    ) {clustered}`,
  ],
  sqlite: [],
  postgres: [],
};
