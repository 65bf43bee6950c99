/** The queue of items that wait for a service gets the names that the code has for it. */
import type { Migration } from '../../driver/migrate.ts';

export const serviceQueue: Migration = {
  version: 35,
  name: 'service_queue',
  statements: () => [
    'ALTER TABLE benches RENAME TO service_queue',
    'ALTER TABLE service_queue RENAME COLUMN workplace TO service',
    'DROP INDEX benches_item',
    'CREATE UNIQUE INDEX service_queue_item ON service_queue (item_id)',
  ],
  sqlite: [],
  postgres: [],
};
