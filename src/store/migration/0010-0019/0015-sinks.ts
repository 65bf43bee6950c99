/** What has been delivered to which sink. */
import type { Migration } from '../../driver/migrate.ts';

export const sinks: Migration = {
  version: 15,
  name: 'sinks',
  statements: () => [
    `CREATE TABLE sink_deliveries (
      generation_id {int} NOT NULL,
      sink TEXT NOT NULL,
      model TEXT NOT NULL,
      PRIMARY KEY (generation_id, sink, model)
    ) {clustered}`,
  ],
  sqlite: [],
  postgres: [],
};
