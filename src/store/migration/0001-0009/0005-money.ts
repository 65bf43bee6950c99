/** Money: answers that were paid for, what was spent, what may be spent, and on which model. */
import type { Migration } from '../../driver/migrate.ts';

export const paying: Migration = {
  version: 5,
  name: 'money',
  statements: () => [
    // The key is the hash of the input, the version of the step, the model and its parameters.
    `CREATE TABLE results (
      key TEXT PRIMARY KEY,
      model TEXT NOT NULL,
      value {bytes} NOT NULL,
      tokens {int} NOT NULL,
      created_at {int} NOT NULL
    )`,
    'CREATE INDEX results_age ON results (created_at)',
    `CREATE TABLE spending (
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      day TEXT NOT NULL,
      tokens_in {int} NOT NULL DEFAULT 0,
      tokens_out {int} NOT NULL DEFAULT 0,
      tokens_unpriced {int} NOT NULL DEFAULT 0,
      tokens_saved {int} NOT NULL DEFAULT 0,
      cost_cents {real} NOT NULL DEFAULT 0,
      saved_cents {real} NOT NULL DEFAULT 0,
      PRIMARY KEY (caller, corpus, day)
    ) {clustered}`,
    `CREATE TABLE reservations (
      item_id {int} PRIMARY KEY,
      job_id {int} NOT NULL,
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      cents {real} NOT NULL,
      until {int} NOT NULL
    )`,
    'CREATE INDEX reservations_job ON reservations (job_id)',
    'CREATE INDEX reservations_corpus ON reservations (caller, corpus)',
    `CREATE TABLE corpus_settings (
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      model TEXT,
      next_model TEXT,
      old_model TEXT,
      budget_cents {real},
      PRIMARY KEY (caller, corpus)
    ) {clustered}`,
    // Until now there was one model.
    `INSERT INTO corpus_settings (caller, corpus, model)
      SELECT DISTINCT caller, corpus, 'static-256' FROM documents`,
    'ALTER TABLE jobs ADD COLUMN budget_cents {real}',
    'ALTER TABLE jobs ADD COLUMN pause_reason TEXT',
    'ALTER TABLE jobs ADD COLUMN tokens_unpriced {int} NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN tokens_saved {int} NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN saved_cents {real} NOT NULL DEFAULT 0',
  ],
  // A chunk may have a vector of the model to come beside that of the present one.
  sqlite: [
    'ALTER TABLE vectors RENAME TO vectors_of_one_model',
    `CREATE TABLE vectors (
      generation_id INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      model TEXT NOT NULL,
      vector BLOB NOT NULL,
      PRIMARY KEY (generation_id, ordinal, model)
    )`,
    `INSERT INTO vectors (generation_id, ordinal, model, vector)
      SELECT generation_id, ordinal, model, vector FROM vectors_of_one_model`,
    'DROP TABLE vectors_of_one_model',
    'PRAGMA writable_schema = ON',
    `UPDATE sqlite_schema SET sql = replace(sql, '''ingest'', ''crawl''',
      '''ingest'', ''crawl'', ''reembed''') WHERE name = 'jobs'`,
    'PRAGMA writable_schema = RESET',
  ],
  postgres: [
    'ALTER TABLE vectors DROP CONSTRAINT vectors_pkey',
    'ALTER TABLE vectors ADD PRIMARY KEY (generation_id, ordinal, model)',
    'ALTER TABLE jobs DROP CONSTRAINT jobs_type_check',
    `ALTER TABLE jobs ADD CONSTRAINT jobs_type_check
      CHECK (type IN ('ingest', 'crawl', 'reembed'))`,
  ],
};
