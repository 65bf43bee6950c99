/**
 * The original of a document: the bytes as they were fetched. They are foreign content on the
 * origin of the service, so a browser neither runs nor renders anything but the safe types.
 */
import { Readable } from 'node:stream';
import { type BlobStore, getPart, getPieces } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { bytesInRow, getFetch } from '../../store/crawl/fetches.ts';
import type { DocumentRow } from '../../store/document/documents.ts';
import { getInput, type InputRow } from '../../store/item/items.ts';
import { type ByteRange, readByteRange } from '../byte-range.ts';
import type { Handlers, Service } from '../service.ts';
import { ownDocument } from './corpora.ts';

type Using = Pick<Service, 'database' | 'corpora' | 'blobs'>;

interface Original {
  readonly mediaType: string;
  readonly charset: string | null;
  readonly bytes: number;
  /** The SHA-256 of the bytes, which identifies a version. */
  readonly key: string;
  /** Undefined: in a blob. */
  readonly body?: Uint8Array;
}

export function rawRoutes(service: Using) {
  return {
    'GET /documents/:id/raw': async ({ caller, params, request, reply }) => {
      const document = await ownDocument(service, caller.callerId, params.id);
      const original = await originalOf(service, document);
      const etag = `"${original.key}"`;
      reply.headers({ ...headersOf(original, document.source), etag });
      if (request.headers['if-none-match'] === etag) {
        reply.code(304).send();
        return undefined;
      }
      const range = rangeOf(request.headers, original);
      if (range === 'none') {
        reply.header('content-range', `bytes */${original.bytes}`);
        const size = `the original of document ${params.id} has ${original.bytes} bytes`;
        throw new Failure('range_not_satisfiable', `${size}, and the range begins behind them`);
      }
      if (range) {
        const last = range.at + range.bytes - 1;
        reply.code(206).header('content-range', `bytes ${range.at}-${last}/${original.bytes}`);
      }
      reply.header('content-length', String(range?.bytes ?? original.bytes));
      if (request.method === 'HEAD') reply.send('');
      else reply.send(await contentOf(service.blobs, original, range));
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

const inputTypes: Readonly<Record<Exclude<InputRow['kind'], 'blob'>, string>> = {
  text: 'text/plain',
  markdown: 'text/markdown',
  html: 'text/html',
};

/** An inline document was never fetched: its original is the text of the request. */
async function originalOf({ database }: Using, document: DocumentRow): Promise<Original> {
  const { generation_id: id, content_hash: hash } = document;
  const fetched = await getFetch(database, id);
  if (fetched) {
    const { media_type: mediaType, charset, bytes, blob_key: key } = fetched;
    const body = bytesInRow(fetched);
    return { mediaType, charset, bytes, key, ...(body && { body }) };
  }
  const input = await getInput(database, id);
  if (!input || input.kind === 'blob') {
    const message = `the original of document ${document.id} is no longer stored`;
    throw new Failure('source_missing', message);
  }
  const body = Buffer.from(input.body);
  const mediaType = inputTypes[input.kind];
  return { mediaType, charset: 'utf-8', bytes: body.length, key: `${hash}-${id}`, body };
}

/** What browsers show without running it. Everything else is downloaded. */
const shown =
  /^(?:application\/pdf|text\/plain|image\/(?:png|jpeg|gif|webp|avif|bmp)|(?:audio|video)\/.+)$/;

const policy = "sandbox; default-src 'none'; frame-ancestors 'none'";

function headersOf({ mediaType, charset }: Original, source: string): Record<string, string> {
  const type = mediaType.toLowerCase();
  const isText = type.startsWith('text/') && charset !== null;
  return {
    'content-type': isText ? `${type}; charset=${charset}` : type,
    'content-disposition': `${shown.test(type) ? 'inline' : 'attachment'}; ${nameOf(source)}`,
    'content-security-policy': policy,
    'accept-ranges': 'bytes',
    // A cache may keep it, but has to ask whether this caller may still see it.
    'cache-control': 'private, no-cache',
  };
}

function nameOf(source: string): string {
  const path = source.replace(/^\w+:/, '').replace(/[?#].*$/, '');
  const name = path.split(/[/\\]/).findLast((part) => part !== '') ?? 'document';
  return `filename*=UTF-8''${encoded(name)}`;
}

/** RFC 8187 allows fewer characters than `encodeURIComponent` keeps. */
function encoded(name: string): string {
  const escaped = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, escaped);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A range of another version is not used: the rest of the client's copy would not fit to it. */
function rangeOf(headers: Headers, { bytes, key }: Original): ReturnType<typeof readByteRange> {
  const { range, 'if-range': version } = headers;
  if (version !== undefined && version !== `"${key}"`) return undefined;
  return readByteRange(typeof range === 'string' ? range : undefined, bytes);
}

async function contentOf(
  blobs: BlobStore,
  { key, body }: Original,
  range: ByteRange | undefined,
): Promise<Buffer | Readable> {
  if (body) {
    const end = range && range.at + range.bytes;
    return Buffer.from(body.subarray(range?.at ?? 0, end));
  }
  return Readable.from(range ? piecesOf(blobs, key, range) : await getPieces(blobs, key));
}

const pieceBytes = 1024 * 1024;

/** Piece by piece, so that no range is in memory at once. */
async function* piecesOf(blobs: BlobStore, key: string, { at, bytes }: ByteRange) {
  for (let done = 0; done < bytes; done += pieceBytes) {
    const size = Math.min(pieceBytes, bytes - done);
    yield await getPart(blobs, key, { at: at + done, bytes: size });
  }
}
