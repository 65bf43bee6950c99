/**
 * A question of the cheap lane is known by its key, and an answer by the item it came for. Letters
 * become small ones as they do elsewhere in Pawl, whatever the locale of the database is.
 */
import type { Migration } from '../../driver/migrate.ts';

const lowerBy = (given: string): string => `
  EXECUTE 'CREATE FUNCTION pawl_lower(given TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $lower$ SELECT lower(${given}) $lower$'`;

export const keysAndLetters: Migration = {
  version: 23,
  name: 'keys and letters',
  statements: () => [
    'ALTER TABLE batch_lines ADD COLUMN key TEXT',
    "UPDATE batch_lines SET key = request ->> 'key'",
    'CREATE INDEX batch_lines_key ON batch_lines (key, id) WHERE key IS NOT NULL',
    "CREATE INDEX batch_lines_answered ON batch_lines (item_id) WHERE status = 'ok'",
  ],
  sqlite: [],
  // The rules of Unicode, where this Postgres has them: it may have been built without.
  postgres: [
    `DO $$ BEGIN
      IF getdatabaseencoding() = 'UTF8'
        AND EXISTS (SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu') THEN
        ${lowerBy('given COLLATE "und-x-icu"')};
      ELSE
        ${lowerBy('given')};
      END IF;
    END $$`,
  ],
};
