/** How long a job may take, and when that time is over; and a view of words that nobody reads. */
import { limits } from '../../../kernel/limits/limits.ts';
import type { Migration } from '../../driver/migrate.ts';

export const wallClock: Migration = {
  version: 16,
  name: 'wall-clock',
  statements: () => [
    `ALTER TABLE jobs ADD COLUMN max_wall_seconds {int} NOT NULL
      DEFAULT ${limits.job.wallClockMs / 1000}`,
    'ALTER TABLE jobs ADD COLUMN deadline_at {int}',
    'CREATE INDEX jobs_deadline ON jobs (deadline_at) WHERE deadline_at IS NOT NULL',
    `UPDATE jobs SET deadline_at = updated_at + max_wall_seconds * 1000
      WHERE state IN ('running', 'retry_pending')`,
  ],
  sqlite: ['DROP TABLE chunk_terms'],
  postgres: [],
};
