/**
 * Texts and fetched bytes are stored compressed. What is there already is packed in the background,
 * from these ids downwards; see `packing-of-old-rows.ts`.
 */
import type { Migration } from '../../driver/migrate.ts';

const tables = [
  ['texts', 'generation_id'],
  ['fetches', 'generation_id'],
  ['inputs', 'item_id'],
] as const;

export const packing: Migration = {
  version: 54,
  name: 'packing',
  statements: () =>
    tables.flatMap(([table, id]) => [
      `ALTER TABLE ${table} ADD COLUMN packed {bytes}`,
      `INSERT INTO cursors (name, seq)
        SELECT 'pack:${table}', MAX(${id}) FROM ${table} HAVING COUNT(*) > 0`,
    ]),
  sqlite: [],
  // The server need not try to compress it again.
  postgres: tables.map(
    ([table]) => `ALTER TABLE ${table} ALTER COLUMN packed SET STORAGE EXTERNAL`,
  ),
};
