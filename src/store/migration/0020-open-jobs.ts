/** The jobs that have not ended are few among all that ever were, and are asked for by themselves. */
import type { Migration } from '../migrate.ts';

export const openJobs: Migration = {
  version: 20,
  name: 'open jobs',
  statements: () => ['CREATE INDEX jobs_open ON jobs (corpus, id) WHERE ended_at IS NULL'],
  sqlite: [],
  postgres: [],
};
