/** Jobs that have not ended are few among all that ever were, and are asked for by themselves. */
import type { Migration } from '../../driver/migrate.ts';

export const openJobs: Migration = {
  version: 20,
  name: 'open jobs',
  statements: () => ['CREATE INDEX jobs_open ON jobs (corpus, id) WHERE ended_at IS NULL'],
  sqlite: [],
  // A job is found by the beginning of its key, in the order of bytes.
  postgres: ['CREATE INDEX jobs_key_prefix ON jobs (key text_pattern_ops)'],
};
