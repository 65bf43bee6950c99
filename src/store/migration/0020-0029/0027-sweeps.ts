/**
 * A command on a job is decided at once, and carried out on its items by a sweep. A request to
 * begin a handoff that is sent again changes nothing.
 */
import { sweeps } from '../../../kernel/lifecycle/job.ts';
import type { Migration } from '../../driver/migrate.ts';

const names = sweeps.map((name) => `'${name}'`).join(', ');

export const jobSweeps: Migration = {
  version: 27,
  name: 'sweeps',
  statements: () => [
    `ALTER TABLE jobs ADD COLUMN sweep TEXT CHECK (sweep IN (${names}))`,
    'CREATE INDEX jobs_sweep ON jobs (id) WHERE sweep IS NOT NULL',
    // Workers that have had a handoff, or were refused it: none of them begins it later.
    "ALTER TABLE handoffs ADD COLUMN past_workers TEXT NOT NULL DEFAULT ''",
  ],
  sqlite: [],
  postgres: [],
};
