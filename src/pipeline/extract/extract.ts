/** `content_extracted`: the text of the source and its title, or the reason why there is none. */
import { hash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { metadataText } from '../../kernel/metadata/metadata.ts';
import { checkChunking } from '../../store/corpus/rechunking.ts';
import { getCorpusSettings } from '../../store/corpus/settings.ts';
import { bytesInRow, getFetch } from '../../store/crawl/fetches.ts';
import type { NewAttachment } from '../../store/document/attachments.ts';
import {
  confirm,
  getDocument,
  remeasure,
  type TextRow,
  writeText,
} from '../../store/document/documents.ts';
import { confirmMetadata } from '../../store/document/metadata.ts';
import { getInput, type InputRow } from '../../store/item/items.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { holdFiles, holdIsMail, holdText } from '../step-memory.ts';
import { detectLanguage } from '../word/language.ts';
import { namedByMail, storeFiles, withFiles } from './attach.ts';
import { keptShareOf, type Parsed, type ParseInput, type Parser } from './parsed.ts';

export interface Extracted {
  readonly title: string | null;
  readonly language: string | null;
  /** Markdown. */
  readonly text: string;
  readonly meta: Parsed['meta'];
  readonly metadata?: Parsed['metadata'];
  readonly dropped?: Parsed['dropped'];
  readonly attachments?: Parsed['attachments'];
}

export interface ExtractInput extends ParseInput {
  /** The title given at submission. */
  readonly title?: string | null | undefined;
}

export function extractStep(blobs: BlobStore, parser: Parser): StepFunction {
  return async (context) => {
    const source = await readSource(context, blobs);
    if (!source) return endWithoutText(context);
    const extracted = await extract(source, context.tools?.parser ?? parser, context.signal);
    holdFiles(context.scratch, extracted.attachments);
    return keepText(context, extracted, await storeFiles(extracted, blobs));
  };
}

/**
 * Stores the text of this generation, unless the document already has the same; adds the
 * attachments of a mail as new items.
 */
export async function keepText(
  context: StepContext,
  found: Extracted,
  files?: readonly NewAttachment[],
): Promise<StepResult> {
  const { item, reader, scratch } = context;
  const extracted = await namedByMail(context, found);
  const contentHash = hashOf(extracted);
  const current = await getDocument(reader, item.documentId);
  const { chunking } = await getCorpusSettings(reader, item);
  const mail = { item, files, contentHash };
  const isSame = current?.content_hash === contentHash && current.chunking === chunking;
  if (isSame && !item.force) {
    const { kept_share: known } = current;
    const kept_share = keptShareOf(extracted.meta);
    const measured = kept_share === known ? undefined : { kept_share, meta: metaOf(extracted) };
    const own = metadataText(extracted.metadata);
    return withFiles(unchanged(item, contentHash, { measured, own }), mail);
  }
  holdIsMail(scratch, files !== undefined || current !== undefined);
  const row: TextRow = {
    generation_id: item.id,
    document_id: item.documentId,
    title: extracted.title,
    language: extracted.language ?? detectLanguage(extracted.text) ?? null,
    body: extracted.text,
    content_hash: contentHash,
    meta: metaOf(extracted),
    metadata: metadataText(extracted.metadata),
    chunking,
  };
  holdText(scratch, row);
  const effect: StepResult['effect'] = async (transaction, now) => {
    await writeText(transaction, row, now);
    return undefined;
  };
  return withFiles({ effect }, mail);
}

/** What may differ while the text is the same. */
interface Compared {
  readonly measured?: { readonly kept_share: number; readonly meta: string } | undefined;
  /** The metadata that the text states; undefined if the text was not read. */
  readonly own?: string | null;
}

/** An older submission that is still running must not replace what this one has confirmed. */
export function unchanged(
  item: PipelineItem,
  contentHash: string,
  { measured, own }: Compared = {},
): StepResult {
  const { documentId, id, source } = item;
  return {
    unchanged: true,
    effect: async (transaction, now) => {
      const row = { id: documentId, content_hash: contentHash, as_of: id };
      const confirmed = await confirm(transaction, row);
      if (!confirmed) {
        const message = `${source} was replaced while it was being compared`;
        throw new Failure('replaced_meanwhile', message);
      }
      await checkChunking(transaction, { ...item, ...confirmed }, now);
      if (measured) await remeasure(transaction, { ...row, ...measured });
      return confirmMetadata(transaction, item, own);
    },
  };
}

/** Undefined if the inline text is gone. */
async function readSource(
  context: StepContext,
  blobs: BlobStore,
): Promise<ExtractInput | undefined> {
  const { item, reader, scratch } = context;
  const { source } = item;
  if (item.sourceKind === 'inline') {
    const input = await getInput(reader, item.id);
    return input && inlineInput(source, input);
  }
  const held = scratch.get('source') as Omit<ParseInput, 'source'> | undefined;
  if (held) return { ...held, source };
  const fetched = await getFetch(reader, item.id);
  if (!fetched) throw new Failure('source_missing', `nothing was fetched from ${source}`);
  const { blob_key: blobKey, media_type: mediaType, charset } = fetched;
  const bytes = bytesInRow(fetched) ?? (await blobs.get(blobKey));
  return { bytes, mediaType, charset: charset ?? undefined, source };
}

/** The input of an inline document. */
export function inlineInput(source: string, { kind, body, title }: InputRow): ExtractInput {
  const mediaType = kind === 'text' ? 'text/plain' : `text/${kind}`;
  return { bytes: Buffer.from(body), mediaType, source, title };
}

/** The text to chunk and index. Throws if there is none. */
export async function extract(
  input: ExtractInput,
  parser: Parser,
  signal: AbortSignal,
): Promise<Extracted> {
  const { title, ...parseInput } = input;
  const parsed = await parser(parseInput, signal);
  return {
    title: title ?? parsed.title,
    language: parsed.language,
    text: parsed.markdown,
    meta: parsed.meta,
    ...(parsed.metadata && { metadata: parsed.metadata }),
    ...(parsed.dropped && { dropped: parsed.dropped }),
    ...(parsed.attachments && { attachments: parsed.attachments }),
  };
}

/** Metadata is untrusted: characters that a database would refuse are removed, as from the text. */
export function metaOf({ meta }: Pick<Extracted, 'meta'>): string {
  return JSON.stringify(meta, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}

/** The hash that detects changes. The text of a mail names all its attachments. */
export function hashOf({ title, text }: Pick<Extracted, 'title' | 'text'>): string {
  return hash('sha256', `${title ?? ''}\0${text}`);
}
