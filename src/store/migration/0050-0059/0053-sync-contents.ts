/**
 * A source keeps what its last listing left for the next one. An entry knows the submission that
 * its stamp belongs to, and which listing lacked it. A change can hold content that its listing has
 * read. Runs of one source wait for each other, so more than one of them may be open.
 */

import { sqlList } from '../../../kernel/lifecycle/machine.ts';
import { openRunStates } from '../../../kernel/lifecycle/sync-run.ts';
import type { Migration } from '../../driver/migrate.ts';

export const syncContents: Migration = {
  version: 53,
  name: 'sync contents',
  statements: () => [
    'ALTER TABLE sync_entries ADD COLUMN item_id {int} NOT NULL DEFAULT 0',
    'ALTER TABLE sync_entries ADD COLUMN missed {int} NOT NULL DEFAULT 0',
    'ALTER TABLE sync_changes ADD COLUMN digest TEXT',
    'ALTER TABLE sync_changes ADD COLUMN is_stored {int} NOT NULL DEFAULT 0',
    'ALTER TABLE sync_sources ADD COLUMN cursor TEXT',
    'DROP INDEX sync_runs_open',
    `CREATE INDEX sync_runs_open ON sync_runs (source_id, id)
      WHERE state IN (${sqlList(openRunStates)})`,
    'CREATE INDEX sync_changes_stored ON sync_changes (digest) WHERE is_stored = 1',
  ],
  sqlite: [],
  postgres: [],
};
