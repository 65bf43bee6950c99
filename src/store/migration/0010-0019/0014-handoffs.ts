/** Questions of steps to services in other processes, with their answers. */
import type { Migration } from '../../driver/migrate.ts';

export const handoffs: Migration = {
  version: 14,
  name: 'handoffs',
  statements: () => [
    // Requests and answers are text and not JSON: a page may say what a database's JSON refuses.
    `CREATE TABLE handoffs (
      id {id},
      key TEXT NOT NULL UNIQUE,
      item_id {int} NOT NULL,
      job_id {int} NOT NULL,
      step TEXT NOT NULL,
      stage TEXT NOT NULL,
      kind TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      request TEXT NOT NULL,
      request_bytes {bytes},
      epoch {int} NOT NULL DEFAULT 0,
      worker TEXT,
      beat_at {int},
      created_at {int} NOT NULL,
      answered_at {int},
      answer TEXT,
      answer_bytes {bytes},
      UNIQUE (item_id, step, request_hash)
    )`,
    'CREATE INDEX handoffs_open ON handoffs (job_id, stage) WHERE answered_at IS NULL',
    `CREATE INDEX handoffs_unbegun ON handoffs (stage, id)
      WHERE answered_at IS NULL AND worker IS NULL`,
    'CREATE INDEX handoffs_age ON handoffs (created_at)',
  ],
  sqlite: [],
  postgres: [],
};
