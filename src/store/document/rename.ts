/** Gives documents another source name: identity, history, text and vectors stay. */
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { listAttachmentsBelow } from './attachments.ts';
import { getDocument } from './documents.ts';
import { documentIdFor, nameDocument } from './names.ts';

const setSource = sql`
  UPDATE documents SET source = :source, updated_at = :now WHERE id = :id`;
const setMailSource = sql`
  UPDATE attachments SET mail_source = :source WHERE mail_id = :mail_id`;
const forgetDelivered = sql<{ generation_id: number }>`
  DELETE FROM sink_deliveries WHERE generation_id = :generation_id RETURNING generation_id`;

export interface Rename {
  readonly id: string;
  readonly place: CorpusPlace;
  readonly source: string;
  readonly now: number;
}

/**
 * Undefined: the document is gone, or another document of the corpus has the new name. A mail is
 * renamed with its files.
 */
export async function renameDocument(
  transaction: Transaction,
  { id, place, source, now }: Rename,
): Promise<NewEvent[] | undefined> {
  const row = await getDocument(transaction, id);
  if (!row || !(await isFree(transaction, { id, place, source }))) return undefined;
  const events = await renameOne(transaction, { id, place, source, now });
  for (const file of await listAttachmentsBelow(transaction, [id])) {
    const attached = await getDocument(transaction, file);
    if (!attached?.source.startsWith(`${row.source}#`)) continue;
    const name = `${source}${attached.source.slice(row.source.length)}`;
    events.push(...(await renameOne(transaction, { id: file, place, source: name, now })));
  }
  return events;
}

/** Whether no other document of the corpus has this name. */
export async function isFree(
  transaction: Transaction,
  { id, place, source }: Omit<Rename, 'now'>,
): Promise<boolean> {
  const holder = await documentIdFor(transaction, place, source);
  return holder === id || (await getDocument(transaction, holder)) === undefined;
}

async function renameOne(
  transaction: Transaction,
  { id, place, source, now }: Rename,
): Promise<NewEvent[]> {
  const row = await getDocument(transaction, id);
  if (!row) return [];
  await nameDocument(transaction, { id, place, source });
  await transaction.run(setSource, { id, source, now });
  await transaction.run(setMailSource, { mail_id: id, source });
  const { generation_id, generation } = row;
  const delivered = await transaction.run(forgetDelivered, { generation_id });
  const moved = { document_id: id, from: row.source, to: source };
  const events: NewEvent[] = [{ kind: 'document_moved', jobId: null, detail: moved }];
  // Sinks hold the name as well: the event makes them take the generation again.
  if (delivered.length > 0) {
    const detail = { document_id: id, generation };
    events.push({ kind: 'generation_flipped', jobId: null, detail });
  }
  return events;
}
