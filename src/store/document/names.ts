/**
 * Which document a source name means. Without a rename, the id of a document follows from its name
 * (`documentIdOf`, the natural id). `document_names` holds the exceptions. Together they are a
 * permutation of ids: each name means one document, and no document has two names.
 */
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { first } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { documentIdOf } from './documents.ts';

const among = sql<{ natural_id: string; document_id: string }>`
  SELECT natural_id, document_id FROM document_names WHERE natural_id {amongKeys}`;

/** The ids of the documents that these sources name, in their order. */
export async function documentIdsOf(
  reader: Reader,
  { caller, corpus }: CorpusPlace,
  sources: readonly string[],
): Promise<string[]> {
  const natural = sources.map((source) => documentIdOf(caller, corpus, source));
  const rows = await reader.run(among, { keys: JSON.stringify(natural) });
  const named = new Map(rows.map((row) => [row.natural_id, row.document_id]));
  return natural.map((id) => named.get(id) ?? id);
}

export async function documentIdFor(
  reader: Reader,
  place: CorpusPlace,
  source: string,
): Promise<string> {
  const [id] = await documentIdsOf(reader, place, [source]);
  return id as string;
}

const nameOf = first<string, { natural_id: string }>`
  SELECT natural_id FROM document_names WHERE document_id = :document_id`;
const forget = sql`
  DELETE FROM document_names WHERE natural_id IN (:one, :other) OR document_id IN (:a, :b)`;
const put = sql`
  INSERT INTO document_names (natural_id, document_id) VALUES (:natural_id, :document_id)`;

/** From now on the source names this document. The two documents exchange their names. */
export async function nameDocument(
  transaction: Transaction,
  { id, place, source }: { id: string; place: CorpusPlace; source: string },
): Promise<void> {
  const target = documentIdOf(place.caller, place.corpus, source);
  const before = (await nameOf(transaction, id))?.natural_id ?? id;
  if (before === target) return;
  const other = await documentIdFor(transaction, place, source);
  await transaction.run(forget, { one: target, other: before, a: id, b: other });
  const pairs = [
    [target, id],
    [before, other],
  ] as const;
  for (const [natural_id, document_id] of pairs) {
    if (natural_id !== document_id) await transaction.run(put, { natural_id, document_id });
  }
}
