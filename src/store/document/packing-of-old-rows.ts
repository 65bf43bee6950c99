/**
 * Packs what an older version stored as it was. A cursor for each table goes from the newest of
 * those rows down to the first, and is removed at the end. A page and its cursor are one commit.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { forgetCursor, readCursor, setCursor } from '../delivery/cursors.ts';
import type { Transaction } from '../driver/database.ts';
import { pack } from '../driver/packing.ts';
import { sql } from '../driver/statement.ts';

const packingOf = (table: string, id: string, plain: string, isPlain = '') => ({
  cursor: `pack:${table}`,
  page: sql<{ id: number }>`SELECT ${id} AS id FROM ${table}
    WHERE ${id} <= :from AND packed IS NULL ORDER BY ${id} DESC LIMIT :limit`,
  // A step that runs again replaces the text: its row is locked until the commit.
  body: sql<{ body: string | Uint8Array | null }>`
    SELECT body FROM ${table} WHERE ${id} = :id AND packed IS NULL ${isPlain} {forUpdate}`,
  replace: sql`UPDATE ${table} SET body = ${plain}, packed = :packed WHERE ${id} = :id`,
});
const packings = [
  packingOf('texts', 'generation_id', "''"),
  packingOf('fetches', 'generation_id', 'NULL'),
  packingOf('inputs', 'item_id', "''", "AND kind <> 'blob'"),
];
type Packing = (typeof packings)[number];

/** Returns how many rows were checked; 0: none is left. */
export async function packOldRows(transaction: Transaction): Promise<number> {
  for (const packing of packings) {
    const from = await readCursor(transaction, packing.cursor);
    if (from === undefined) continue;
    const checked = await packPage(transaction, packing, from);
    if (checked > 0) return checked;
    await forgetCursor(transaction, packing.cursor);
  }
  return 0;
}

async function packPage(
  transaction: Transaction,
  { cursor, page, body, replace }: Packing,
  from: number,
): Promise<number> {
  const rows = await transaction.run(page, { from, limit: limits.packing.rowsMax });
  let checked = 0;
  let bytes = 0;
  let seq = from;
  for (const { id } of rows) {
    const [row] = await transaction.run(body, { id });
    const plain = Buffer.from(row?.body ?? '');
    const packed = pack(plain);
    if (packed) await transaction.run(replace, { id, packed });
    seq = id - 1;
    checked += 1;
    bytes += plain.length;
    if (bytes >= limits.packing.bytesMax) break;
  }
  if (checked > 0) await setCursor(transaction, { name: cursor, seq });
  return checked;
}
