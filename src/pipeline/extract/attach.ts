/**
 * What a mail adds to its job. Its files become items of the same job in the transaction in which
 * the mail is read: a job that is killed goes on with exactly what it had found.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  addAttachments,
  getAttachment,
  type NewAttachment,
} from '../../store/document/attachments.ts';
import { removeGoneAttachments } from '../../store/document/prune.ts';
import { putAway } from '../fetch/put-away.ts';
import type { PipelineItem, StepContext, StepResult } from '../pipeline.ts';
import type { Extracted } from './extract.ts';

/** The type is found out when the item is fetched: by the bytes first, and by the name. */
const mediaType = 'application/octet-stream';

/**
 * Puts the bytes of the files where fetched bytes are. They are named by their content: what a step
 * that counts for nothing has put away is swept. Undefined: this is no mail.
 */
export async function putAwayFiles(
  { attachments }: Extracted,
  blobs: BlobStore,
): Promise<NewAttachment[] | undefined> {
  if (!attachments) return undefined;
  const files: NewAttachment[] = [];
  for (const { name, bytes } of attachments) {
    files.push({ name, fetch: { ...(await putAway({ bytes, mediaType }, blobs)), charset: null } });
  }
  return files;
}

interface ReadMail {
  readonly item: PipelineItem;
  readonly contentHash: string;
  readonly files: readonly NewAttachment[] | undefined;
}

/** Adds to the outcome what the mail brings. */
export function withFiles(result: StepResult, { item, contentHash, files }: ReadMail): StepResult {
  if (!files) return result;
  const isUnchanged = result.unchanged === true;
  return {
    ...result,
    effect: async (transaction, now) => {
      const events = [...((await result.effect?.(transaction, now)) ?? [])];
      const addition = { mail: item, files, contentHash, isUnchanged, now };
      const added = await addAttachments(transaction, addition);
      if (isUnchanged) events.push(...(await removeGoneAttachments(transaction, item.documentId)));
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

const { depthMax, filesAllMax } = limits.attachment;
const inCorpus = 'the others are in the corpus';
const beyondBounds =
  `a newer version of the mail was read, or the bounds are reached: ${filesAllMax} files of a ` +
  `mail with all mails attached to it, and mails ${depthMax} deep`;

/** A file of a mail is called by its name, and says which mail it belongs to. */
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
