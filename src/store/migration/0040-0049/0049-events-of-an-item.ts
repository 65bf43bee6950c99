/** The history of one document, whatever the size of its job. */
import type { Migration } from '../../driver/migrate.ts';

export const eventsOfAnItem: Migration = {
  version: 49,
  name: 'events of an item',
  statements: () => ['CREATE INDEX events_item ON events (item_id, seq) WHERE item_id IS NOT NULL'],
  sqlite: [],
  postgres: [],
};
