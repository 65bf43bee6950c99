/** Items that wait for a place where their next step is done, each such place with its own line. */
import type { Migration } from '../../driver/migrate.ts';

export const benches: Migration = {
  version: 33,
  name: 'benches',
  statements: () => [
    `CREATE TABLE benches (
      workplace TEXT NOT NULL,
      rank {int} NOT NULL,
      item_id {int} NOT NULL,
      PRIMARY KEY (workplace, rank, item_id)
    ) {clustered}`,
    'CREATE UNIQUE INDEX benches_item ON benches (item_id)',
  ],
  sqlite: [],
  postgres: [],
};
