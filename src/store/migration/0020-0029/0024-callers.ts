/**
 * Callers, the identities that lead to them, who owns a corpus, and with whom it is shared. Nothing
 * is rewritten: whoever owned something keeps its id. Sixteen hexadecimal digits are the beginning
 * of a key's hash; any other id was given by Membership.
 */
import type { Migration } from '../../driver/migrate.ts';

/** Every table that named a caller. `documents` follows from `jobs`. */
const owned = ['jobs', 'corpus_settings', 'batch_tasks', 'spending', 'documents'];
const known = owned.map((table) => `SELECT caller AS id FROM ${table}`).join(' UNION ');
const isKey = {
  sqlite: `length(id) = 16 AND id NOT GLOB '*[^0-9a-f]*'`,
  postgres: `id ~ '^[0-9a-f]{16}$'`,
};

const adopt = (dialect: 'sqlite' | 'postgres'): string[] => [
  `INSERT INTO callers (id, origin, created_at)
    SELECT known.id, 'store', COALESCE((
      SELECT MIN(jobs.created_at) FROM jobs WHERE jobs.caller = known.id), 0)
    FROM (${known}) AS known WHERE known.id <> 'local'`,
  `INSERT INTO caller_identities (kind, subject, caller, created_at)
    SELECT CASE WHEN ${isKey[dialect]} THEN 'key' ELSE 'membership' END, id, id, created_at
    FROM callers WHERE id <> 'local'`,
];

export const callers: Migration = {
  version: 24,
  name: 'callers',
  statements: () => [
    `CREATE TABLE callers (
      id TEXT PRIMARY KEY,
      name TEXT,
      origin TEXT NOT NULL
        CHECK (origin IN ('local', 'key', 'name', 'membership', 'share', 'store')),
      merged_into TEXT,
      created_at {int} NOT NULL
    )`,
    'CREATE INDEX callers_merged ON callers (merged_into) WHERE merged_into IS NOT NULL',
    `CREATE TABLE caller_identities (
      kind TEXT NOT NULL CHECK (kind IN ('key', 'name', 'membership')),
      subject TEXT NOT NULL,
      caller TEXT NOT NULL,
      created_at {int} NOT NULL,
      PRIMARY KEY (kind, subject)
    )`,
    'CREATE INDEX caller_identities_caller ON caller_identities (caller)',
    `CREATE TABLE corpus_owners (
      namespace TEXT NOT NULL,
      corpus TEXT NOT NULL,
      owner TEXT NOT NULL,
      PRIMARY KEY (namespace, corpus)
    )`,
    'CREATE INDEX corpus_owners_owner ON corpus_owners (owner)',
    `CREATE TABLE corpus_shares (
      namespace TEXT NOT NULL,
      corpus TEXT NOT NULL,
      caller TEXT NOT NULL,
      access TEXT NOT NULL CHECK (access IN ('read', 'write')),
      created_at {int} NOT NULL,
      PRIMARY KEY (namespace, corpus, caller)
    )`,
    'CREATE INDEX corpus_shares_caller ON corpus_shares (caller)',
    `CREATE TABLE caller_moves (
      id {id},
      from_caller TEXT NOT NULL,
      to_caller TEXT NOT NULL,
      namespace TEXT,
      corpus TEXT,
      created_at {int} NOT NULL,
      ended_at {int}
    )`,
    'CREATE INDEX caller_moves_open ON caller_moves (id) WHERE ended_at IS NULL',
    `INSERT INTO callers (id, origin, created_at) VALUES ('local', 'local', 0)`,
  ],
  sqlite: adopt('sqlite'),
  postgres: adopt('postgres'),
};
