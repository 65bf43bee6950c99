/**
 * The clock of a job counts work only: `worked_ms` holds the spans that are over, and
 * `working_since` the start of the present one. `worked_before_ms` is what earlier runs took,
 * before the last retry. What older jobs have worked is not known exactly: all their time counts.
 */
import type { Migration } from '../../driver/migrate.ts';

export const workClock: Migration = {
  version: 32,
  name: 'work clock',
  statements: () => [
    'ALTER TABLE jobs ADD COLUMN worked_ms {int} NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN worked_before_ms {int} NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN working_since {int}',
    'ALTER TABLE jobs ADD COLUMN items_retried {int} NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN attempt {int} NOT NULL DEFAULT 1',
    'ALTER TABLE jobs ADD COLUMN canceled_at {int}',
    "UPDATE jobs SET working_since = started_at WHERE state IN ('running', 'retry_pending')",
    `UPDATE jobs SET worked_ms = {greatest}(COALESCE(ended_at, updated_at) - started_at, 0)
      WHERE started_at IS NOT NULL AND state NOT IN ('running', 'retry_pending')`,
    // Items that were admitted before are held back, too.
    'ALTER TABLE gates ADD COLUMN held_until {int} NOT NULL DEFAULT 0',
    "UPDATE jobs SET canceled_at = ended_at WHERE state = 'canceled'",
  ],
  sqlite: [],
  postgres: [],
};
