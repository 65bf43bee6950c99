/**
 * The metadata of documents. `documents.metadata` has all of it, `document_metadata` has one row
 * for each value, to find documents by. Both are written in the transaction that makes a
 * generation current or confirms it, so a reader sees the old metadata or the new, never a mix.
 */
import { type MetadataValue, mergeTexts, readMetadata } from '../../kernel/metadata/metadata.ts';
import { type Scalar, scalarsOf } from '../../kernel/metadata/where.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Transaction } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export const valueKinds = { number: 1, boolean: 2, string: 3 } as const;
export type KindName = keyof typeof valueKinds;

/** A value as the index has it: a number with an empty text, or a text with the number 0. */
export function indexedValue(value: Scalar): { kind: number; number: number; text: string } {
  if (typeof value === 'string') return { kind: valueKinds.string, number: 0, text: value };
  if (typeof value === 'boolean') {
    return { kind: valueKinds.boolean, number: value ? 1 : 0, text: '' };
  }
  return { kind: valueKinds.number, number: value, text: '' };
}

const setText = sql`UPDATE documents SET metadata = :metadata WHERE id = :id`;
const putRow = sqlRows({
  corpus: 'text',
  caller: 'text',
  key: 'text',
  kind: 'int',
  number: 'real',
  text: 'text',
  document_id: 'text',
})`INSERT INTO document_metadata (corpus, caller, key, kind, number, text, document_id)
  SELECT :corpus, :caller, :key, :kind, :number, :text, :document_id {rows}`;

export const removeMetadata = write<string>`
  DELETE FROM document_metadata WHERE document_id = :document_id`;

export interface DocumentMetadata {
  readonly id: string;
  readonly caller: string;
  readonly corpus: string;
  readonly metadata: string | null;
}

/** Replaces the metadata of a document. */
export async function writeMetadata(
  transaction: Transaction,
  { id, caller, corpus, metadata }: DocumentMetadata,
): Promise<void> {
  await transaction.run(setText, { id, metadata });
  await removeMetadata(transaction, id);
  const rows = Object.entries(readMetadata(metadata)).flatMap(([key, value]) =>
    distinct(value).map((each) => ({
      corpus,
      caller,
      key,
      document_id: id,
      ...indexedValue(each),
    })),
  );
  await transaction.each(putRow, rows);
}

function distinct(value: MetadataValue): Scalar[] {
  return [...new Set(scalarsOf(value))];
}

const confirmed = sql<{
  caller: string;
  corpus: string;
  metadata: string | null;
  generation_id: number;
  own: string | null;
}>`
  SELECT documents.caller, documents.corpus, documents.metadata, documents.generation_id,
    texts.metadata AS own
  FROM documents LEFT JOIN texts ON texts.generation_id = documents.generation_id
  WHERE documents.id = :id AND documents.as_of = :as_of`;
const setOwn = sql`UPDATE texts SET metadata = :own WHERE generation_id = :generation_id`;

export interface ConfirmedMetadata {
  readonly documentId: string;
  /** The item that found the content unchanged. */
  readonly id: number;
  readonly jobId: number;
  /** What its submitter stated. */
  readonly metadata?: string | null | undefined;
}

/**
 * Sets the metadata of a document whose content was found unchanged. `own` is what the text states
 * now; undefined if the text was not read. Changes nothing if a newer submission has confirmed the
 * document since. Returns the event of the change.
 */
export async function confirmMetadata(
  transaction: Transaction,
  item: ConfirmedMetadata,
  own?: string | null,
): Promise<NewEvent[]> {
  const { documentId: id, id: asOf } = item;
  const [row] = await transaction.run(confirmed, { id, as_of: asOf });
  if (!row) return [];
  const { caller, corpus, generation_id } = row;
  if (own !== undefined && own !== row.own) {
    await transaction.run(setOwn, { own, generation_id });
  }
  const metadata = mergeTexts(own === undefined ? row.own : own, item.metadata);
  if (metadata === row.metadata) return [];
  await writeMetadata(transaction, { id, caller, corpus, metadata });
  const detail = { document_id: id };
  return [{ kind: 'metadata_changed', jobId: item.jobId, itemId: item.id, detail }];
}

const withOwn = sql<DocumentMetadata & { own: string | null }>`
  SELECT documents.id, documents.caller, documents.corpus, documents.metadata,
    texts.metadata AS own
  FROM documents LEFT JOIN texts ON texts.generation_id = documents.generation_id
  WHERE documents.id {amongKeys} ORDER BY documents.id`;

/** Files of an unchanged mail get the metadata that its submitter states now. */
export async function inheritMetadata(
  transaction: Transaction,
  mail: ConfirmedMetadata,
  fileIds: readonly string[],
): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const { own, ...row } of await transaction.run(withOwn, { keys: JSON.stringify(fileIds) })) {
    const metadata = mergeTexts(own, mail.metadata);
    if (metadata === row.metadata) continue;
    await writeMetadata(transaction, { ...row, metadata });
    const detail = { document_id: row.id };
    events.push({ kind: 'metadata_changed', jobId: mail.jobId, itemId: mail.id, detail });
  }
  return events;
}
