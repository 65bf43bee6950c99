/**
 * How the words of each generation were analyzed. Generations without a row were packed before
 * languages were told apart; they are packed again beside the work.
 */
import type { Migration } from '../../driver/migrate.ts';

export const wordAnalysis: Migration = {
  version: 39,
  name: 'word_analysis',
  statements: () => [
    `CREATE TABLE generation_analysis (
      generation_id {int} PRIMARY KEY,
      version {int} NOT NULL,
      language TEXT NOT NULL
    )`,
    `CREATE TABLE word_reindex (
      version {int} PRIMARY KEY,
      last_document TEXT NOT NULL,
      documents_done {int} NOT NULL,
      documents_total {int} NOT NULL,
      finished_at {int}
    )`,
    // A store without documents has nothing to analyze again.
    `INSERT INTO word_reindex (version, last_document, documents_done, documents_total, finished_at)
      SELECT 1, '', 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM documents)`,
  ],
  sqlite: [],
  postgres: [],
};
