/** Which documents are files of which mail, and which version of the mail named them last. */
import type { Migration } from '../../driver/migrate.ts';

export const attachments: Migration = {
  version: 31,
  name: 'attachments',
  statements: () => [
    `CREATE TABLE attachments (
      document_id TEXT PRIMARY KEY,
      mail_id TEXT NOT NULL,
      root_id TEXT NOT NULL,
      mail_source TEXT NOT NULL,
      mail_hash TEXT NOT NULL,
      name TEXT NOT NULL,
      depth {int} NOT NULL,
      as_of {int} NOT NULL
    )`,
    'CREATE INDEX attachments_mail ON attachments (mail_id)',
    'CREATE INDEX attachments_root ON attachments (root_id)',
  ],
  sqlite: [],
  postgres: [],
};
