/** How many batch tasks a caller has open is looked at before another is taken. */
import type { Migration } from '../../driver/migrate.ts';

export const openTasks: Migration = {
  version: 17,
  name: 'open tasks',
  statements: () => [
    `CREATE INDEX batch_tasks_open ON batch_tasks (caller)
     WHERE state IN ('pending', 'in_progress')`,
  ],
  sqlite: [],
  postgres: [],
};
