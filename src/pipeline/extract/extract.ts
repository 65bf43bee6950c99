/** `content_extracted`: the text of the source, with its title; or the reason why there is none. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure.ts';
import { confirm, getDocument, writeText } from '../../store/documents.ts';
import { getFetch } from '../../store/fetches.ts';
import { getInput } from '../../store/items.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { decodeHtml } from './html/charset.ts';
import { extractHtml, type NoContentReason } from './html/extract-html.ts';

export interface Extracted {
  readonly title: string | null;
  readonly language: string | null;
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
    const extracted = extract(await readSource(context, blobs), item.source);
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
          language: extracted.language,
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
  if (held) return { body: decode(held), mediaType: held.mediaType, title: null };
  const fetched = await getFetch(reader, item.id);
  if (!fetched) throw new Failure('source_missing', `nothing was fetched from ${item.source}`);
  const bytes = await blobs.get(fetched.blob_key);
  const mediaType = fetched.media_type;
  return { body: decode({ bytes, mediaType }), mediaType, title: null };
}

function decode({ bytes, mediaType }: { bytes: Uint8Array; mediaType: string }): string {
  return isHtml(mediaType) ? decodeHtml(bytes) : new TextDecoder().decode(bytes);
}

function isHtml(mediaType: string): boolean {
  return mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
}

function extract({ body, mediaType, title }: Source, source: string): Extracted {
  if (!isHtml(mediaType)) {
    const text = tidy(body);
    return { title: title ?? firstHeading(text), language: null, text };
  }
  const found = extractHtml(body, { url: source });
  if (!found.found) {
    throw new Failure('no_usable_content', `${source} ${whyNoContent[found.reason]}`);
  }
  const text = tidy(found.markdown);
  return {
    title: title ?? found.title ?? firstHeading(text),
    language: found.language ?? null,
    text,
  };
}

const whyNoContent: Readonly<Record<NoContentReason, string>> = {
  empty_page: 'is a page without text',
  script_only_page: 'shows its text only after running scripts: a browser may do that',
  login_wall: 'asks for a login instead of showing its text',
};

function tidy(text: string): string {
  // A zero character means nothing in a text, and not every database can store one.
  return text.replaceAll('\0', '\ufffd').replaceAll('\r\n', '\n').normalize('NFC').trim();
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
