/**
 * The addresses that text of a corpus is sent to. Of what was embedded before, the address is not
 * known: it is recorded at the first use by a process in which somebody has named it.
 */
import type { Migration } from '../../driver/migrate.ts';

export const origins: Migration = {
  version: 25,
  name: 'origins',
  statements: () => [
    `CREATE TABLE corpus_origins (
      caller TEXT NOT NULL,
      corpus TEXT NOT NULL,
      purpose TEXT NOT NULL,
      url TEXT NOT NULL,
      PRIMARY KEY (caller, corpus, purpose)
    ) {clustered}`,
  ],
  sqlite: [],
  postgres: [],
};
