/**
 * Documents that were removed because their source no longer has them. Search does not find them.
 * Their text, chunks and vectors are kept for a time, so that they can be brought back unpaid.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, first, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { forgetAttachments, listAttachmentsBelow } from './attachments.ts';
import { pruneGeneration } from './chunks.ts';
import { type DocumentRow, deleteDocument, deleteTexts, getDocument } from './documents.ts';
import { nameDocument } from './names.ts';
import { deletionOf, pruneReplaced } from './prune.ts';
import { isFree } from './rename.ts';

export interface RemovedRow {
  readonly document_id: string;
  readonly source_id: number;
  /** The key of its entry; null for the file of a mail. */
  readonly key: string | null;
  readonly caller: string;
  readonly corpus: string;
  readonly source: string;
  readonly generation_id: number;
  /** The row of `documents`, as JSON. */
  readonly row: string;
  readonly removed_at: number;
}

const keep = write<RemovedRow>`
  INSERT INTO removed_documents (document_id, source_id, key, caller, corpus, source,
    generation_id, row, removed_at)
  VALUES (:document_id, :source_id, :key, :caller, :corpus, :source, :generation_id, :row,
    :removed_at)
  ON CONFLICT (document_id) DO UPDATE SET source_id = excluded.source_id, key = excluded.key,
    source = excluded.source, generation_id = excluded.generation_id, row = excluded.row,
    removed_at = excluded.removed_at`;
const unname = sql`DELETE FROM removed_documents WHERE document_id = :document_id`;

export const getRemoved = first<string, RemovedRow>`
  SELECT * FROM removed_documents WHERE document_id = :document_id`;

/** Removed documents of a source, newest first. */
export const listRemoved = all<{ source_id: number; limit: number }, RemovedRow>`
  SELECT * FROM removed_documents WHERE source_id = :source_id AND key IS NOT NULL
  ORDER BY removed_at DESC, document_id LIMIT :limit`;

interface Removal {
  readonly id: string;
  readonly sourceId: number;
  readonly key: string;
  readonly now: number;
}

/**
 * Takes a document without open items out of its corpus, with the files of a mail. No earlier
 * submission can bring it back.
 */
export async function removeSoftly(
  transaction: Transaction,
  { id, sourceId, key, now }: Removal,
): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const each of [id, ...(await listAttachmentsBelow(transaction, [id]))]) {
    const document = await getDocument(transaction, each);
    if (document) {
      const { caller, corpus, source, generation_id } = document;
      await keep(transaction, {
        document_id: each,
        source_id: sourceId,
        key: each === id ? key : null,
        caller,
        corpus,
        source,
        generation_id,
        row: JSON.stringify(document),
        removed_at: now,
      });
      events.push(await deletionOf(transaction, document));
    }
    await deleteDocument(transaction, each);
  }
  return events;
}

const tombstoneOf = sql<{ as_of: number }>`
  SELECT as_of FROM tombstones WHERE document_id = :id`;
const dig = sql`DELETE FROM tombstones WHERE document_id = :id`;
const forgetDelivered = sql`DELETE FROM sink_deliveries WHERE generation_id = :generation_id`;

interface Restoration {
  readonly id: string;
  readonly place: CorpusPlace;
  /** The name under which it comes back. */
  readonly source: string;
  readonly now: number;
}

/** Undefined: it cannot be brought back, or another document has its name. */
export async function restoreDocument(
  transaction: Transaction,
  { id, place, source, now }: Restoration,
): Promise<NewEvent[] | undefined> {
  const removed = await getRemoved(transaction, id);
  if (!removed || (await getDocument(transaction, id))) return undefined;
  if (!(await isFree(transaction, { id, place, source }))) return undefined;
  const events = await bringBack(transaction, removed, { place, source, now });
  for (const file of await listAttachmentsBelow(transaction, [id])) {
    const attached = await getRemoved(transaction, file);
    if (!attached || (await getDocument(transaction, file))) continue;
    const name = attached.source.startsWith(`${removed.source}#`)
      ? `${source}${attached.source.slice(removed.source.length)}`
      : attached.source;
    if (!(await isFree(transaction, { id: file, place, source: name }))) continue;
    events.push(...(await bringBack(transaction, attached, { place, source: name, now })));
  }
  return events;
}

async function bringBack(
  transaction: Transaction,
  { document_id: id, row, generation_id }: RemovedRow,
  { place, source, now }: Omit<Restoration, 'id'>,
): Promise<NewEvent[]> {
  const [tombstone] = await transaction.run(tombstoneOf, { id });
  const stored: DocumentRow = JSON.parse(row);
  const as_of = Math.max(stored.as_of, tombstone?.as_of ?? 0);
  const document = { ...stored, source, as_of, updated_at: now };
  await nameDocument(transaction, { id, place, source });
  await transaction.run(insertStatement(Object.keys(document)), document);
  await transaction.run(dig, { id });
  await transaction.run(unname, { document_id: id });
  await transaction.run(forgetDelivered, { generation_id });
  const { caller, corpus, generation } = document;
  const restored = { document_id: id, corpus, caller };
  return [
    { kind: 'document_restored', jobId: null, detail: restored },
    // Readers that keep a copy of the current content take it again.
    { kind: 'generation_flipped', jobId: null, detail: { document_id: id, generation } },
  ];
}

/** The columns are those of the stored row, which a later migration may extend. */
function insertStatement(columns: readonly string[]) {
  const values = columns.map((name) => `:${name}`).join(', ');
  return { text: `INSERT INTO documents (${columns.join(', ')}) VALUES (${values})` };
}

const expired = sql<RemovedRow>`
  SELECT * FROM removed_documents WHERE removed_at <= :before ORDER BY removed_at LIMIT :limit`;
const ofCorpus = sql<RemovedRow>`
  SELECT * FROM removed_documents WHERE caller = :caller AND corpus = :corpus LIMIT :limit`;

/** Removes what is kept of documents that can no longer be brought back. Returns their number. */
export async function purgeRemoved(
  transaction: Transaction,
  { before, limit }: { before: number; limit: number },
): Promise<number> {
  const rows = await transaction.run(expired, { before, limit });
  for (const row of rows) await purge(transaction, row);
  return rows.length;
}

/** The corpus is deleted: nothing of it is kept. */
export async function purgeRemovedOf(
  transaction: Transaction,
  { caller, corpus }: CorpusPlace,
): Promise<void> {
  for (;;) {
    const limit = limits.sync.purgeMax;
    const rows = await transaction.run(ofCorpus, { caller, corpus, limit });
    for (const row of rows) await purge(transaction, row);
    if (rows.length < limit) return;
  }
}

async function purge(
  transaction: Transaction,
  { document_id: id, generation_id }: RemovedRow,
): Promise<void> {
  await transaction.run(unname, { document_id: id });
  const document = await getDocument(transaction, id);
  if (document?.generation_id === generation_id) return;
  await pruneGeneration(transaction, generation_id);
  await deleteTexts(transaction, [generation_id]);
  await pruneReplaced(transaction, id);
  if (!document) await forgetAttachments(transaction, [id]);
}

/** How many documents of a source can be brought back. */
export async function countRemoved(reader: Reader, sourceId: number): Promise<number> {
  const [row] = await reader.run(counted, { source_id: sourceId });
  return Number(row?.count ?? 0);
}

const counted = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM removed_documents
  WHERE source_id = :source_id AND key IS NOT NULL`;
