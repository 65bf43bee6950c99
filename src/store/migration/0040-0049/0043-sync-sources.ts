/**
 * Sources that a corpus follows, their runs, and what each run found. A document keeps its id when
 * its file is renamed, so `document_names` maps the id that a name would give to the id it has.
 */
import { sqlCheck, sqlList } from '../../../kernel/lifecycle/machine.ts';
import { openRunStates, syncRun } from '../../../kernel/lifecycle/sync-run.ts';
import { keptSourceStates, syncSource } from '../../../kernel/lifecycle/sync-source.ts';
import type { Migration } from '../../driver/migrate.ts';

export const syncSources: Migration = {
  version: 43,
  name: 'sync sources',
  statements: () => [
    `CREATE TABLE sync_sources (
      id {id},
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      place_caller TEXT NOT NULL,
      place_corpus TEXT NOT NULL,
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      location TEXT NOT NULL,
      options {json} NOT NULL,
      schedule TEXT,
      every_ms {int},
      state TEXT NOT NULL ${sqlCheck(syncSource, 'state')},
      next_at {int},
      failures {int} NOT NULL DEFAULT 0,
      error {json},
      synced_at {int},
      created_at {int} NOT NULL,
      updated_at {int} NOT NULL
    )`,
    `CREATE UNIQUE INDEX sync_sources_name ON sync_sources (caller, name)
      WHERE state IN (${sqlList(keptSourceStates)})`,
    'CREATE INDEX sync_sources_next ON sync_sources (next_at) WHERE next_at IS NOT NULL',

    `CREATE TABLE sync_entries (
      source_id {int} NOT NULL,
      key TEXT NOT NULL,
      document_id TEXT NOT NULL,
      stamp TEXT NOT NULL,
      size {int},
      is_kept {int} NOT NULL DEFAULT 0,
      PRIMARY KEY (source_id, key)
    ) {clustered}`,
    'CREATE INDEX sync_entries_document ON sync_entries (document_id)',

    `CREATE TABLE sync_runs (
      id {id},
      source_id {int} NOT NULL,
      cause TEXT NOT NULL,
      is_plan {int} NOT NULL,
      state TEXT NOT NULL ${sqlCheck(syncRun, 'state')},
      removals TEXT,
      cursor TEXT NOT NULL DEFAULT '',
      listed {int} NOT NULL DEFAULT 0,
      unchanged {int} NOT NULL DEFAULT 0,
      entries_before {int} NOT NULL DEFAULT 0,
      job_keys {json} NOT NULL,
      error {json},
      worker TEXT,
      epoch {int} NOT NULL DEFAULT 0,
      held_until {int} NOT NULL DEFAULT 0,
      created_at {int} NOT NULL,
      updated_at {int} NOT NULL,
      ended_at {int}
    )`,
    `CREATE UNIQUE INDEX sync_runs_open ON sync_runs (source_id)
      WHERE state IN (${sqlList(openRunStates)})`,
    'CREATE INDEX sync_runs_source ON sync_runs (source_id, id)',

    `CREATE TABLE sync_changes (
      id {id},
      run_id {int} NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      from_key TEXT,
      document_id TEXT,
      stamp TEXT,
      size {int},
      evidence TEXT NOT NULL,
      is_applied {int} NOT NULL DEFAULT 0
    )`,
    'CREATE INDEX sync_changes_run ON sync_changes (run_id, kind, id)',

    `CREATE TABLE removed_documents (
      document_id TEXT PRIMARY KEY,
      source_id {int} NOT NULL,
      key TEXT,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      source TEXT NOT NULL,
      generation_id {int} NOT NULL,
      row {json} NOT NULL,
      removed_at {int} NOT NULL
    )`,
    'CREATE INDEX removed_documents_source ON removed_documents (source_id, key)',
    'CREATE INDEX removed_documents_generation ON removed_documents (generation_id)',
    'CREATE INDEX removed_documents_time ON removed_documents (removed_at)',

    `CREATE TABLE document_names (
      natural_id TEXT PRIMARY KEY,
      document_id TEXT NOT NULL
    )`,
    'CREATE UNIQUE INDEX document_names_document ON document_names (document_id)',
  ],
  sqlite: [],
  // A listing and the stored entries are merged by the bytes of their keys.
  postgres: ['ALTER TABLE sync_entries ALTER COLUMN key TYPE TEXT COLLATE "C"'],
};
