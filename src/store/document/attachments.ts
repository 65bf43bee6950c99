/**
 * Files attached to mails. A file becomes an item of the mail's job in the transaction in which the
 * mail is read, and its bytes are stored like fetched bytes: so it is added exactly once, and the
 * mail is not parsed again for it. Each is its own document. A row stores the mail it belongs to,
 * the latest submission of the mail that named it, and the content hash of that mail. If the
 * indexed content of the mail differs and is not older, the document is removed.
 */

import { limits } from '../../kernel/limits/limits.ts';
import { readMetadata } from '../../kernel/metadata/metadata.ts';
import { attachmentSource } from '../../kernel/name/attachment.ts';
import { type FetchRow, listSameBytes, writeFetch } from '../crawl/fetches.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { first } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { getJobById } from '../job/jobs.ts';
import { growJob } from '../job/moves.ts';
import { addItems } from '../job/submit.ts';
import { isSuperseded } from './documents.ts';
import { documentIdsOf } from './names.ts';

/** The item that has read a mail. */
export interface MailItem {
  readonly id: number;
  readonly jobId: number;
  readonly caller: string;
  readonly corpus: string;
  readonly documentId: string;
  readonly source: string;
  /** The files of a mail inherit what its submitter stated. */
  readonly metadata?: string | null | undefined;
}

export interface NewAttachment {
  readonly name: string;
  readonly fetch: Omit<FetchRow, 'generation_id'>;
}

export interface AttachmentRow {
  readonly document_id: string;
  /** The document of the mail. */
  readonly mail_id: string;
  /** The outermost mail. */
  readonly root_id: string;
  readonly mail_source: string;
  /** The content hash of the mail that named the file. */
  readonly mail_hash: string;
  readonly name: string;
  readonly depth: number;
  readonly as_of: number;
}

const newerOfMail = sql<{ document_id: string }>`
  SELECT document_id FROM attachments WHERE mail_id = :mail_id AND as_of > :as_of LIMIT 1`;
const countOthers = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM attachments WHERE root_id = :root_id AND mail_id <> :mail_id`;
const put = sqlRows({
  document_id: 'text',
  mail_id: 'text',
  root_id: 'text',
  mail_source: 'text',
  mail_hash: 'text',
  name: 'text',
  depth: 'int',
  as_of: 'int',
})<{ document_id: string }>`
  INSERT INTO attachments
    (document_id, mail_id, root_id, mail_source, mail_hash, name, depth, as_of)
  SELECT :document_id, :mail_id, :root_id, :mail_source, :mail_hash, :name, :depth, :as_of
  {rows} WHERE TRUE
  ON CONFLICT (document_id) DO UPDATE SET mail_id = excluded.mail_id, root_id = excluded.root_id,
    mail_source = excluded.mail_source, mail_hash = excluded.mail_hash, depth = excluded.depth,
    as_of = excluded.as_of
  WHERE excluded.as_of > attachments.as_of
  RETURNING document_id`;

/** Undefined: the document is not an attachment. */
export const getAttachment = first<string, AttachmentRow>`
  SELECT * FROM attachments WHERE document_id = :document_id`;

interface Addition {
  readonly mail: MailItem;
  readonly files: readonly NewAttachment[];
  /** Of the mail. */
  readonly contentHash: string;
  /** The mail is already indexed: only files that the corpus lacks are added. */
  readonly isUnchanged: boolean;
  readonly now: number;
}

/** Creates items for the files of a mail, up to the limits. Returns how many. */
export async function addAttachments(
  transaction: Transaction,
  { mail, files, contentHash, isUnchanged, now }: Addition,
): Promise<number> {
  const job = await getJobById(transaction, mail.jobId);
  if (!job || (await isOutdated(transaction, mail))) return 0;
  const named = await insertRows(transaction, mail, { files, contentHash });
  const added = isUnchanged ? await lackingAmong(transaction, mail, named) : named;
  if (added.length === 0) return 0;
  const ids = await addItems(
    transaction,
    { ...job, force: job.force === 1, now },
    added.map(({ name }) => ({
      kind: 'attachment',
      source: attachmentSource(mail.source, name),
      metadata: readMetadata(mail.metadata),
    })),
  );
  for (const [index, { fetch }] of added.entries()) {
    await writeFetch(transaction, { ...fetch, generation_id: ids[index] as number });
  }
  await growJob(transaction, { id: mail.jobId, count: added.length, now });
  return added.length;
}

/** A newer submission of the mail was read or indexed, or the mail was deleted since. */
async function isOutdated(transaction: Transaction, mail: MailItem): Promise<boolean> {
  if (await isSuperseded(transaction, mail.documentId, mail.id)) return true;
  const newer = { mail_id: mail.documentId, as_of: mail.id };
  return (await transaction.run(newerOfMail, newer)).length > 0;
}

async function lackingAmong(
  transaction: Transaction,
  { caller, corpus, source }: MailItem,
  files: readonly NewAttachment[],
): Promise<NewAttachment[]> {
  const blobKeys = files.map(({ fetch }) => fetch.blob_key);
  const same = await listSameBytes(transaction, { caller, corpus, blobKeys });
  const present = new Set(same.map((row) => `${row.blob_key} ${row.source}`));
  return files.filter(
    ({ name, fetch }) => !present.has(`${fetch.blob_key} ${attachmentSource(source, name)}`),
  );
}

/** Returns the files that no newer submission has named, up to the limits. */
async function insertRows(
  transaction: Transaction,
  mail: MailItem,
  { files, contentHash }: Pick<Addition, 'files' | 'contentHash'>,
): Promise<NewAttachment[]> {
  const parent = await getAttachment(transaction, mail.documentId);
  const depth = (parent?.depth ?? 0) + 1;
  const rootId = parent?.root_id ?? mail.documentId;
  if (files.length === 0 || depth > limits.attachment.depthMax) return [];
  const ids = { mail_id: mail.documentId, root_id: rootId };
  const [others] = await transaction.run(countOthers, ids);
  const room = Math.max(0, limits.attachment.filesAllMax - Number(others?.count ?? 0));
  const chosen = files.slice(0, room);
  const names = chosen.map(({ name }) => attachmentSource(mail.source, name));
  const documentIds = await documentIdsOf(transaction, mail, names);
  const byDocument = new Map(
    chosen.map((file, index) => [documentIds[index] as string, file] as const),
  );
  const version = { mail_hash: contentHash, as_of: mail.id };
  const same = { ...ids, ...version, mail_source: mail.source, depth };
  const rows = await transaction.each(
    put,
    Array.from(byDocument, ([document_id, { name }]) => ({ ...same, document_id, name })),
  );
  const inserted = new Set(rows.map(({ document_id }) => document_id));
  return [...byDocument].flatMap(([id, file]) => (inserted.has(id) ? [file] : []));
}

const ofMails = sql<{ document_id: string }>`
  SELECT document_id FROM attachments WHERE mail_id {amongKeys} ORDER BY document_id`;
const removeRows = sql`DELETE FROM attachments WHERE document_id {amongKeys}`;

/** The documents of all files of these mails, including files of attached mails. */
export async function listAttachmentsBelow(
  reader: Reader,
  mailIds: readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  let open = mailIds;
  for (let depth = 0; open.length > 0 && depth <= limits.attachment.depthMax; depth += 1) {
    const rows = await reader.run(ofMails, { keys: JSON.stringify(open) });
    open = rows.flatMap(({ document_id }) => (found.has(document_id) ? [] : [document_id]));
    for (const id of open) found.add(id);
  }
  return [...found];
}

/** Removes the attachment rows of these documents. */
export async function forgetAttachments(
  transaction: Transaction,
  documentIds: readonly string[],
): Promise<void> {
  await transaction.run(removeRows, { keys: JSON.stringify(documentIds) });
}

const goneFrom = sql<{ document_id: string }>`
  SELECT attachments.document_id FROM attachments
  JOIN documents ON documents.id = attachments.mail_id
  WHERE attachments.mail_id = :mail_id AND attachments.as_of <= documents.as_of
    AND attachments.mail_hash <> documents.content_hash`;

/** Files that the indexed version of a mail does not have, and everything below them. */
export async function listGone(reader: Reader, mailId: string): Promise<string[]> {
  const gone = (await reader.run(goneFrom, { mail_id: mailId })).map((row) => row.document_id);
  if (gone.length === 0) return [];
  return [...new Set([...gone, ...(await listAttachmentsBelow(reader, gone))])].sort();
}
