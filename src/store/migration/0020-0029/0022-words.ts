/** The words of each generation as a search needs them, beside its chunks and its vectors. */
import type { Migration } from '../../driver/migrate.ts';

export const words: Migration = {
  version: 22,
  name: 'words',
  statements: () => [
    `CREATE TABLE generation_words (
      generation_id {int} PRIMARY KEY,
      words {bytes} NOT NULL
    )`,
  ],
  sqlite: [],
  postgres: [],
};
