/** What the service remembers: which requests it has already accepted. */
import type { Migration } from '../migrate.ts';

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
    "CREATE INDEX jobs_failed_stage ON jobs (caller, failed_stage, id) WHERE state = 'failed'",
  ],
  sqlite: [],
  postgres: [],
};
