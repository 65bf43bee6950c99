/** Where a job's end is told, what was told there, and how far the log has been read for it. */
import type { Migration } from '../../driver/migrate.ts';

export const webhooks: Migration = {
  version: 12,
  name: 'webhooks',
  statements: () => [
    'ALTER TABLE jobs ADD COLUMN webhook_url TEXT',
    `CREATE TABLE deliveries (
      key TEXT PRIMARY KEY,
      seq {int} NOT NULL UNIQUE,
      job_id {int} NOT NULL,
      kind TEXT NOT NULL,
      url TEXT NOT NULL,
      body TEXT NOT NULL,
      attempt {int} NOT NULL DEFAULT 0,
      due_at {int},
      status {int},
      error TEXT,
      is_delivered {int} NOT NULL DEFAULT 0,
      created_at {int} NOT NULL,
      tried_at {int}
    )`,
    'CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX deliveries_job ON deliveries (job_id, seq)',
    'CREATE INDEX deliveries_age ON deliveries (created_at)',
    `INSERT INTO cursors (name, seq)
      SELECT 'outbox', value FROM sequence WHERE name = 'events'`,
  ],
  sqlite: [],
  postgres: [],
};
