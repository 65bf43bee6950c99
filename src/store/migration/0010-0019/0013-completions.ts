/** Completions are paid for like embeddings; and what a document says of itself is kept. */
import type { Migration } from '../../driver/migrate.ts';

export const completions: Migration = {
  version: 13,
  name: 'completions',
  statements: () => [
    'ALTER TABLE results ADD COLUMN tokens_out {int} NOT NULL DEFAULT 0',
    // Two steps of one item may pay at once, each with money of its own. What is set aside now is
    // lost here, as if its process had died: it lives for minutes.
    'DROP TABLE reservations',
    `CREATE TABLE reservations (
      item_id {int} NOT NULL,
      step TEXT NOT NULL,
      job_id {int} NOT NULL,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      cents {real} NOT NULL,
      until {int} NOT NULL,
      PRIMARY KEY (item_id, step)
    )`,
    'CREATE INDEX reservations_job ON reservations (job_id)',
    'CREATE INDEX reservations_corpus ON reservations (caller, corpus)',
    "ALTER TABLE texts ADD COLUMN meta {json} NOT NULL DEFAULT '{}'",
  ],
  sqlite: [],
  postgres: [],
};
