/**
 * Which providers a batch task needs, which running processes have them, and why a task waits. A
 * process takes only tasks of providers that it has the settings of.
 */
import type { Migration } from '../../driver/migrate.ts';

export const batchServing: Migration = {
  version: 28,
  name: 'batch serving',
  statements: () => [
    // Completions of older stores name no provider: the first process that has one fills it in.
    'ALTER TABLE batch_tasks ADD COLUMN served_by TEXT',
    'ALTER TABLE batch_tasks ADD COLUMN waits {int} NOT NULL DEFAULT 0',
    'ALTER TABLE batch_tasks ADD COLUMN wait_reason TEXT',
    'UPDATE batch_tasks SET served_by = provider',
    'DROP INDEX batch_tasks_due',
    'DROP INDEX batch_tasks_cancel',
    `CREATE INDEX batch_tasks_due ON batch_tasks (served_by, state, next_at)
      WHERE state IN ('pending', 'in_progress')`,
    `CREATE INDEX batch_tasks_cancel ON batch_tasks (served_by, next_at) WHERE is_cancel_due = 1`,
    `CREATE INDEX batch_tasks_age ON batch_tasks (created_at)
      WHERE state IN ('pending', 'in_progress')`,
    `CREATE TABLE batch_presence (
      process TEXT NOT NULL,
      provider TEXT NOT NULL,
      task_types TEXT NOT NULL,
      models TEXT,
      seen_at {int} NOT NULL,
      PRIMARY KEY (process, provider)
    )`,
  ],
  sqlite: [],
  postgres: [],
};
