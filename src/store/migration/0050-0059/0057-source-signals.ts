/**
 * A source may have an address that starts a run when a message signed with its secret arrives.
 * Messages are remembered, so that none counts twice. A source counts its runs without a change:
 * a schedule with two intervals asks less often what does not change.
 */
import type { Migration } from '../../driver/migrate.ts';

export const sourceSignals: Migration = {
  version: 57,
  name: 'source signals',
  statements: () => [
    'ALTER TABLE sync_sources ADD COLUMN hook TEXT',
    'ALTER TABLE sync_sources ADD COLUMN hook_secret TEXT',
    'ALTER TABLE sync_sources ADD COLUMN quiet_runs {int} NOT NULL DEFAULT 0',
    'CREATE UNIQUE INDEX sync_sources_hook ON sync_sources (hook) WHERE hook IS NOT NULL',
    `CREATE TABLE sync_signals (
      source_id {int} NOT NULL,
      key TEXT NOT NULL,
      received_at {int} NOT NULL,
      PRIMARY KEY (source_id, key)
    ) {clustered}`,
    'CREATE INDEX sync_signals_time ON sync_signals (received_at)',
  ],
  sqlite: [],
  postgres: [],
};
