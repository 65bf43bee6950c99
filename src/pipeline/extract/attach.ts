/**
 * Adds the attachments of a mail to its job. They become items of the same job in the transaction
 * that commits the mail's text: a killed job continues with exactly what it had found.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewEvent } from '../../observe/event.ts';
import {
  addAttachments,
  getAttachment,
  listAttachmentsBelow,
  type NewAttachment,
} from '../../store/document/attachments.ts';
import { inheritMetadata } from '../../store/document/metadata.ts';
import { removeGoneAttachments } from '../../store/document/prune.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { storeContent } from '../fetch/store-content.ts';
import type { PipelineItem, StepContext, StepResult } from '../pipeline.ts';
import type { Extracted } from './extract.ts';

/** The type is determined when the item is fetched: by the bytes first, then by the name. */
const mediaType = 'application/octet-stream';

/**
 * Stores the bytes of the attachments like fetched bytes. They are named by their content, so the
 * leftovers of an abandoned step are swept. Undefined if this is not a mail.
 */
export async function storeFiles(
  { attachments }: Extracted,
  blobs: BlobStore,
): Promise<NewAttachment[] | undefined> {
  if (!attachments) return undefined;
  const files: NewAttachment[] = [];
  for (const { name, bytes } of attachments) {
    files.push({
      name,
      fetch: { ...(await storeContent({ bytes, mediaType }, blobs)), charset: null },
    });
  }
  return files;
}

interface ReadMail {
  readonly item: PipelineItem;
  readonly contentHash: string;
  readonly files: readonly NewAttachment[] | undefined;
}

/** Adds the attachments to the outcome. */
export function withFiles(result: StepResult, { item, contentHash, files }: ReadMail): StepResult {
  if (!files) return result;
  const isUnchanged = result.unchanged === true;
  return {
    ...result,
    effect: async (transaction, now) => {
      const events = [...((await result.effect?.(transaction, now)) ?? [])];
      const addition = { mail: item, files, contentHash, isUnchanged, now };
      const added = await addAttachments(transaction, addition);
      if (isUnchanged) events.push(...(await settleFiles(transaction, item)));
      if (files.length === 0 || (isUnchanged && added === 0)) return events;
      const detail = {
        found: files.length,
        added,
        ...(added < files.length && { reason: isUnchanged ? inCorpus : beyondBounds }),
      };
      events.push({ kind: 'attachments_found', jobId: item.jobId, itemId: item.id, detail });
      return events;
    },
  };
}

/** Removes the files that the mail no longer has; the others inherit its metadata. */
async function settleFiles(transaction: Transaction, mail: PipelineItem): Promise<NewEvent[]> {
  const removed = await removeGoneAttachments(transaction, mail.documentId);
  const files = await listAttachmentsBelow(transaction, [mail.documentId]);
  if (files.length === 0) return removed;
  return [...removed, ...(await inheritMetadata(transaction, mail, files))];
}

const { depthMax, filesAllMax } = limits.attachment;
const inCorpus = 'the others are in the corpus';
const beyondBounds =
  `a newer version of the mail was read, or the bounds are reached: ${filesAllMax} files of a ` +
  `mail with all mails attached to it, and mails ${depthMax} deep`;

/** An attachment has its file name as title, and names the mail it belongs to. */
export async function namedByMail(
  { item, reader }: StepContext,
  extracted: Extracted,
): Promise<Extracted> {
  if (item.sourceKind !== 'attachment') return extracted;
  const row = await getAttachment(reader, item.documentId);
  if (!row) return extracted;
  const meta = { ...extracted.meta, attachment_of: row.mail_source };
  return { ...extracted, title: row.name, meta };
}
