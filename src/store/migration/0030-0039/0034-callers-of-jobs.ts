/** What was known of the caller when a job was accepted: its end is audited with the same words. */
import type { Migration } from '../../driver/migrate.ts';

export const callersOfJobs: Migration = {
  version: 34,
  name: 'callers of jobs',
  statements: () => [
    'ALTER TABLE jobs ADD COLUMN caller_type TEXT',
    'ALTER TABLE jobs ADD COLUMN caller_tier TEXT',
  ],
  sqlite: [],
  postgres: [],
};
