/** The first schema. `CHECK`s come from the kernel's tables; see `docs/decisions/`. */

import { waits } from '../../../kernel/lifecycle/item-wait.ts';
import { job } from '../../../kernel/lifecycle/job.ts';
import { sqlCheck } from '../../../kernel/lifecycle/machine.ts';
import type { Migration } from '../../driver/migrate.ts';

export const initial: Migration = {
  version: 1,
  name: 'initial',
  statements: (lifecycle) => [
    `CREATE TABLE corpora (
      name TEXT PRIMARY KEY,
      created_at {int} NOT NULL
    )`,

    `CREATE TABLE jobs (
      id {id},
      key TEXT NOT NULL UNIQUE,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      type TEXT NOT NULL CHECK (type IN ('ingest', 'crawl')),
      url TEXT,
      force {int} NOT NULL,
      priority {int} NOT NULL,
      state TEXT NOT NULL ${sqlCheck(job, 'state')},
      items_total {int} NOT NULL,
      items_done {int} NOT NULL DEFAULT 0,
      items_failed {int} NOT NULL DEFAULT 0,
      items_canceled {int} NOT NULL DEFAULT 0,
      items_waiting {int} NOT NULL DEFAULT 0,
      documents_emitted {int} NOT NULL DEFAULT 0,
      chunks_indexed {int} NOT NULL DEFAULT 0,
      tokens_in {int} NOT NULL DEFAULT 0,
      tokens_out {int} NOT NULL DEFAULT 0,
      cost_cents {real} NOT NULL DEFAULT 0,
      failed_stage TEXT,
      error {json},
      created_at {int} NOT NULL,
      updated_at {int} NOT NULL,
      started_at {int},
      ended_at {int}
    )`,
    'CREATE INDEX jobs_caller ON jobs (caller, id)',
    'CREATE INDEX jobs_caller_corpus ON jobs (caller, corpus, id)',
    'CREATE INDEX jobs_caller_state ON jobs (caller, state, id)',

    // No index of this table has a column that a claim or a click changes: an update writes the row
    // and nothing else. What would have been such an index is a small table of its own, below.
    `CREATE TABLE items (
      id {id},
      job_id {int} NOT NULL,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      document_id TEXT NOT NULL,
      source_kind TEXT NOT NULL,
      source TEXT NOT NULL,
      force {int} NOT NULL,
      gate TEXT,
      gate_held {int} NOT NULL DEFAULT 0,
      step TEXT NOT NULL ${sqlCheck(lifecycle.machine, 'step')},
      progress {int} NOT NULL DEFAULT 0,
      waits_on TEXT CHECK (waits_on IN (${waits.map((name) => `'${name}'`).join(', ')})),
      rank {int} NOT NULL,
      due_at {int},
      worker TEXT,
      epoch {int} NOT NULL DEFAULT 0,
      attempt {int} NOT NULL DEFAULT 0,
      crashes {int} NOT NULL DEFAULT 0,
      error {json},
      failed_at {int},
      tokens_in {int} NOT NULL DEFAULT 0,
      tokens_out {int} NOT NULL DEFAULT 0,
      cost_cents {real} NOT NULL DEFAULT 0,
      created_at {int} NOT NULL,
      moved_at {int} NOT NULL
    )`,
    'CREATE INDEX items_gate_held ON items (gate) WHERE gate_held = 1',
    'CREATE INDEX items_failed ON items (caller, id) WHERE failed_at IS NOT NULL',
    'CREATE INDEX items_job ON items (job_id, id)',
    'CREATE INDEX items_document ON items (document_id)',

    `CREATE TABLE turns (
      rank {int} NOT NULL,
      item_id {int} NOT NULL,
      PRIMARY KEY (rank, item_id)
    ) {clustered}`,
    `CREATE TABLE timers (
      due_at {int} NOT NULL,
      item_id {int} NOT NULL,
      PRIMARY KEY (due_at, item_id)
    ) {clustered}`,
    `CREATE TABLE lines (
      gate TEXT NOT NULL,
      rank {int} NOT NULL,
      item_id {int} NOT NULL,
      PRIMARY KEY (gate, rank, item_id)
    ) {clustered}`,
    `CREATE TABLE claims (
      id {id},
      worker TEXT NOT NULL,
      items {json} NOT NULL
    )`,
    'CREATE INDEX claims_worker ON claims (worker)',

    `CREATE TABLE inputs (
      item_id {int} PRIMARY KEY,
      kind TEXT NOT NULL,
      title TEXT,
      body TEXT NOT NULL
    )`,

    `CREATE TABLE fetches (
      generation_id {int} PRIMARY KEY,
      blob_key TEXT NOT NULL,
      media_type TEXT NOT NULL,
      bytes {int} NOT NULL
    )`,

    `CREATE TABLE events (
      seq {int} PRIMARY KEY,
      at {int} NOT NULL,
      kind TEXT NOT NULL,
      job_id {int},
      item_id {int},
      step TEXT,
      attempt {int},
      worker TEXT,
      detail {json}
    )`,
    'CREATE INDEX events_job ON events (job_id, seq)',
    `CREATE INDEX events_content ON events (seq)
      WHERE kind IN ('generation_flipped', 'document_deleted', 'corpus_deleted')`,
    'CREATE TABLE sequence (name TEXT PRIMARY KEY, value {int} NOT NULL)',
    "INSERT INTO sequence (name, value) VALUES ('events', 0)",
    'CREATE TABLE cursors (name TEXT PRIMARY KEY, seq {int} NOT NULL)',

    `CREATE TABLE workers (
      id TEXT PRIMARY KEY,
      host TEXT NOT NULL,
      pid {int} NOT NULL,
      process_started TEXT NOT NULL,
      beat_at {int} NOT NULL,
      served_rank {int} NOT NULL DEFAULT 0
    )`,
    'CREATE TABLE shares (caller TEXT PRIMARY KEY, finish {int} NOT NULL)',
    `CREATE TABLE gates (
      name TEXT PRIMARY KEY,
      concurrency {int} NOT NULL,
      interval_ms {int} NOT NULL,
      next_at {int} NOT NULL
    )`,

    `CREATE TABLE documents (
      id TEXT PRIMARY KEY,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      source TEXT NOT NULL,
      title TEXT,
      language TEXT,
      generation {int} NOT NULL,
      generation_id {int} NOT NULL,
      as_of {int} NOT NULL,
      content_hash TEXT NOT NULL,
      chunk_count {int} NOT NULL,
      text_bytes {int} NOT NULL,
      created_at {int} NOT NULL,
      updated_at {int} NOT NULL
    )`,
    'CREATE TABLE tombstones (document_id TEXT PRIMARY KEY, as_of {int} NOT NULL)',
    'CREATE INDEX documents_corpus ON documents (corpus, id)',
    `CREATE TABLE texts (
      generation_id {int} PRIMARY KEY,
      document_id TEXT NOT NULL,
      title TEXT,
      language TEXT,
      body TEXT NOT NULL,
      content_hash TEXT NOT NULL,
      created_at {int} NOT NULL
    )`,
    'CREATE INDEX texts_document ON texts (document_id)',
    `CREATE TABLE chunks (
      id {id},
      key TEXT NOT NULL,
      document_id TEXT NOT NULL,
      generation_id {int} NOT NULL,
      ordinal {int} NOT NULL,
      heading TEXT NOT NULL,
      text TEXT NOT NULL,
      start_offset {int} NOT NULL,
      end_offset {int} NOT NULL,
      token_count {int} NOT NULL
    )`,
    'CREATE UNIQUE INDEX chunks_generation ON chunks (generation_id, ordinal)',
    'CREATE INDEX chunks_document ON chunks (document_id)',
    `CREATE TABLE vectors (
      generation_id {int} NOT NULL,
      ordinal {int} NOT NULL,
      model TEXT NOT NULL,
      vector {bytes} NOT NULL,
      PRIMARY KEY (generation_id, ordinal)
    )`,
    `CREATE TABLE entities (
      generation_id {int} NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      mentions {int} NOT NULL,
      PRIMARY KEY (generation_id, kind, name)
    )`,
  ],
  sqlite: [
    `CREATE VIRTUAL TABLE chunk_search USING fts5 (
      title, heading, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
    )`,
    "CREATE VIRTUAL TABLE chunk_terms USING fts5vocab (chunk_search, 'row')",
  ],
  postgres: [
    'ALTER TABLE items SET (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05)',
    'ALTER TABLE jobs SET (fillfactor = 70)',
    'ALTER TABLE sequence SET (fillfactor = 10)',
    `CREATE TABLE chunk_search (chunk_id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)`,
    'CREATE INDEX chunk_search_words ON chunk_search USING GIN (words)',
  ],
};
