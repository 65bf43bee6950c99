/** What the service remembers: which requests it has accepted, and which blobs. */
import type { Migration } from '../../driver/migrate.ts';

export const service: Migration = {
  version: 9,
  name: 'service',
  statements: () => [
    `CREATE TABLE idempotency (
      caller TEXT NOT NULL,
      key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      job_key TEXT NOT NULL,
      created_at {int} NOT NULL,
      PRIMARY KEY (caller, key)
    )`,
    'CREATE INDEX idempotency_age ON idempotency (created_at)',
    "CREATE INDEX inputs_blob ON inputs (body) WHERE kind = 'blob'",
    "CREATE INDEX jobs_failed_stage ON jobs (caller, failed_stage, id) WHERE state = 'failed'",
  ],
  sqlite: [],
  postgres: [],
};
