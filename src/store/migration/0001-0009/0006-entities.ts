/** What entities are called and where, and which of them are named together. */
import type { Migration } from '../../driver/migrate.ts';

export const naming: Migration = {
  version: 6,
  name: 'entities',
  statements: () => [
    'ALTER TABLE entities ADD COLUMN ordinal {int} NOT NULL DEFAULT 0',
    "ALTER TABLE entities ADD COLUMN aliases {json} NOT NULL DEFAULT '[]'",
    // Pairs of an offset into the text and a length, one after the other.
    "ALTER TABLE entities ADD COLUMN places {json} NOT NULL DEFAULT '[]'",
    `CREATE TABLE entity_relations (
      generation_id {int} NOT NULL,
      one {int} NOT NULL,
      other {int} NOT NULL,
      weight {int} NOT NULL,
      PRIMARY KEY (generation_id, one, other)
    ) {clustered}`,
  ],
  sqlite: [],
  postgres: [],
};
