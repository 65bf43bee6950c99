/** `content_extracted`: the text of the source, with its title; or the reason why there is none. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure.ts';
import { confirm, getDocument, writeText } from '../../store/documents.ts';
import { getFetch } from '../../store/fetches.ts';
import { getInput } from '../../store/items.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { htmlToMarkdown } from './html.ts';

export interface Extracted {
  readonly title: string | null;
  readonly text: string;
}

interface Source {
  readonly body: string;
  readonly mediaType: string;
  readonly title: string | null;
}

export function extractStep(blobs: BlobStore): StepFunction {
  return async (context) => {
    const { item, reader, scratch } = context;
    const extracted = extract(await readSource(context, blobs));
    if (!hasWords(extracted.text)) {
      throw new Failure('no_usable_content', `${item.source} has no text that could be searched`);
    }
    const contentHash = hashOf(extracted);
    const current = await getDocument(reader, item.documentId);
    if (current?.content_hash === contentHash && !item.force) return unchanged(item, contentHash);
    scratch.set('extracted', extracted);
    return {
      effect: async (transaction, now) => {
        const row = {
          generation_id: item.id,
          document_id: item.documentId,
          title: extracted.title,
          language: null,
          body: extracted.text,
          content_hash: contentHash,
        };
        await writeText(transaction, row, now);
        return undefined;
      },
    };
  };
}

/** An older submission that is still at work must not replace what this one has confirmed. */
function unchanged({ documentId, id, source }: PipelineItem, contentHash: string): StepResult {
  return {
    unchanged: true,
    effect: async (transaction) => {
      const row = { id: documentId, content_hash: contentHash, as_of: id };
      if (await confirm(transaction, row)) return undefined;
      throw new Failure('store_busy', `${source} was replaced while it was being compared`);
    },
  };
}

async function readSource(context: StepContext, blobs: BlobStore): Promise<Source> {
  const { item, reader, scratch } = context;
  if (item.sourceKind === 'inline') {
    const input = await getInput(reader, item.id);
    if (!input) throw new Failure('source_missing', `the text of ${item.source} is gone`);
    return { body: input.body, mediaType: `text/${input.kind}`, title: input.title };
  }
  const held = scratch.get('source') as { bytes: Uint8Array; mediaType: string } | undefined;
  if (held) return { body: decode(held.bytes), mediaType: held.mediaType, title: null };
  const fetched = await getFetch(reader, item.id);
  if (!fetched) throw new Failure('source_missing', `nothing was fetched from ${item.source}`);
  const bytes = await blobs.get(fetched.blob_key);
  return { body: decode(bytes), mediaType: fetched.media_type, title: null };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function extract({ body, mediaType, title }: Source): Extracted {
  const found = mediaType === 'text/html' ? htmlToMarkdown(body) : { title: null, text: body };
  // A zero character means nothing in a text, and not every database can store one.
  const text = found.text
    .replaceAll('\0', '\ufffd')
    .replaceAll('\r\n', '\n')
    .normalize('NFC')
    .trim();
  return { title: title ?? found.title ?? firstHeading(text), text };
}

function firstHeading(text: string): string | null {
  return /^#{1,6}\s+(.+)$/m.exec(text)?.[1]?.trim() ?? null;
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function hashOf({ title, text }: Extracted): string {
  return createHash('sha256')
    .update(`${title ?? ''}\0${text}`)
    .digest('hex');
}
