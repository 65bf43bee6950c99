/** `fetched`: stores the raw bytes of the source, so that they are the same after a crash. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { bytesInRow, getFetch, writeFetch } from '../../store/crawl/fetches.ts';
import { getInput } from '../../store/item/items.ts';
import { unsupported } from '../extract/format/unsupported.ts';
import type { StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { fetchUrl, takesRecordings, type UrlReader } from './fetch-url.ts';
import { pathOfSource } from './file-path.ts';
import { isReadable, isRecording, mediaTypeOf } from './http/media-type.ts';
import { type Content, type StoredContent, storeContent } from './store-content.ts';

export function fetchStep(reader: UrlReader): StepFunction {
  const readers: Readonly<Record<string, (context: StepContext) => Promise<StepResult>>> = {
    attachment: (context) => fetchAttachment(context, reader),
    file: (context) => fetchFile(context, reader),
    inline: fetchInline,
    upload: (context) => fetchUpload(context, reader),
    url: (context) => fetchUrl(context, { ...reader, ...context.tools }),
  };
  return async (context) => {
    const { sourceKind } = context.item;
    const read = readers[sourceKind];
    if (!read) throw new Failure('bad_request', `no source is of the kind ${sourceKind}`);
    return read(context);
  };
}

async function fetchFile(context: StepContext, reader: UrlReader): Promise<StepResult> {
  const bytes = await readBounded(context.item.source);
  const takes = await takesRecordings(context, reader);
  const content = typed(context.item.source, bytes, { areRecordingsTaken: takes });
  return kept(context, content, await storeContent(content, reader.blobs));
}

/** Records the type of the bytes and where they are stored. */
function kept({ item, scratch }: StepContext, content: Content, at: StoredContent): StepResult {
  scratch.set('source', content);
  return {
    effect: async (transaction) => {
      await writeFetch(transaction, { ...at, generation_id: item.id, charset: null });
      return undefined;
    },
  };
}

interface TypeOptions {
  readonly areRecordingsTaken?: boolean;
  readonly isPage?: boolean;
}

/** Bytes with their type, by name and by content. */
export function typed(
  source: string,
  bytes: Uint8Array,
  { areRecordingsTaken = false, isPage }: TypeOptions = {},
): Content {
  if (bytes.length === 0) throw new Failure('empty_source', `${source} has no bytes`);
  const mediaType = mediaTypeOf(source, bytes, { isPage });
  if (mediaType !== undefined && isReadable(mediaType)) return { bytes, mediaType };
  if (mediaType !== undefined && areRecordingsTaken && isRecording(mediaType)) {
    return { bytes, mediaType };
  }
  throw unsupported(source, mediaType);
}

/** Opening a pipe or a device could block for ever without O_NONBLOCK. */
const atOnce = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a file that may change or be huge: never more than the limit, regardless of its reported
 * size.
 */
export async function readBounded(path: string): Promise<Uint8Array> {
  const file = await open(pathOfSource(path), atOnce);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) {
      throw new Failure('source_unreadable', `${path} is a folder: ingest it again`);
    }
    if (!stats.isFile()) throw new Failure('source_unreadable', `${path} is not a file`);
    const { size } = stats;
    const bound = limits.document.sourceBytesMax;
    if (size > bound)
      throw new Failure('source_too_large', `${path} has ${size} bytes, and ${bound} are the most`);
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await file.read(buffer, 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The bytes of an upload were stored with its job: only their type is determined. */
async function fetchUpload(context: StepContext, from: UrlReader): Promise<StepResult> {
  const { item, reader } = context;
  const input = await getInput(reader, item.id);
  if (!input) return endWithoutText(context);
  const bytes = await from.blobs.get(input.body);
  const takes = await takesRecordings(context, from);
  // The title of a page is its address, and that of a file its name.
  const isPage = input.title !== null && /^https?:/.test(input.title);
  const content = typed(item.source, bytes, { areRecordingsTaken: takes, isPage });
  const at = { blob_key: input.body, bytes: bytes.length, media_type: content.mediaType };
  return kept(context, content, { ...at, body: null, packed: null });
}

/** The bytes of an attachment were stored when its mail was read. */
async function fetchAttachment(context: StepContext, from: UrlReader): Promise<StepResult> {
  const { item, reader } = context;
  const stored = await getFetch(reader, item.id);
  if (!stored) return endWithoutText(context);
  const bytes = bytesInRow(stored) ?? (await from.blobs.get(stored.blob_key));
  const areRecordingsTaken = await takesRecordings(context, from);
  const content = typed(item.source, bytes, { areRecordingsTaken });
  return kept(context, content, await storeContent(content, from.blobs));
}

/** Inline documents were stored with their job: they are only checked for content. */
async function fetchInline(context: StepContext): Promise<StepResult> {
  const { item, reader } = context;
  const input = await getInput(reader, item.id);
  if (!input) return endWithoutText(context);
  if (input.body === '') throw new Failure('empty_source', `${item.source} has no text`);
  return {};
}
