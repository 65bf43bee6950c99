/** The headers of the frames between Pawl and a parser process. */

import { Failure, type FailureContext, isFailureCode } from '../../../kernel/failure/failure.ts';
import { keepValid } from '../../../kernel/metadata/metadata.ts';
import { safeFileName } from '../../../kernel/name/attachment.ts';
import type { Attachment, DroppedText, MetaValue, Parsed, ParseInput } from '../parsed.ts';
import type { Frame } from './frame.ts';

export type RequestHeader = Omit<ParseInput, 'bytes'>;

export type ParserResponseHeader =
  | { readonly is: 'ready' }
  | ({ readonly is: 'parsed'; readonly memoryBytes: number } & ParsedHeader)
  | {
      readonly is: 'failed';
      readonly memoryBytes: number;
      readonly code: string;
      readonly message: string;
      readonly context: FailureContext;
    };

/** The text and the attachments follow in the body, concatenated. */
export interface ParsedHeader extends Omit<Parsed, 'markdown' | 'attachments'> {
  readonly textBytes: number;
  readonly attachments?: readonly AttachmentHeader[] | undefined;
}

export interface AttachmentHeader extends Omit<Attachment, 'bytes'> {
  readonly size: number;
}

/** Serializes a parsed document: its header, and the pieces of its body. */
export function bodyOf({ markdown, attachments, ...rest }: Parsed): {
  readonly header: ParsedHeader;
  readonly pieces: readonly Uint8Array[];
} {
  const text = Buffer.from(markdown);
  const files = attachments?.map(({ bytes, ...file }) => ({ ...file, size: bytes.length }));
  return {
    header: { ...rest, textBytes: text.length, ...(files && { attachments: files }) },
    pieces: [text, ...(attachments ?? []).map(({ bytes }) => bytes)],
  };
}

export interface ParserResponse {
  readonly outcome: Parsed | Failure;
  readonly memoryBytes: number;
}

/** Parses a response. It may come from a compromised process, so everything is validated. */
export function readResponse({ header, body }: Frame): ParserResponse {
  const { is, memoryBytes, ...rest } = fieldsOf(header);
  const memory = typeof memoryBytes === 'number' ? memoryBytes : 0;
  if (is === 'parsed') return { outcome: parsedOf(rest, body), memoryBytes: memory };
  if (is === 'failed') return { outcome: failureOf(rest), memoryBytes: memory };
  throw new Failure('parse_crashed', 'the parser returned an invalid response');
}

function parsedOf(header: Record<string, unknown>, body: Buffer): Parsed {
  const { title, language, meta, metadata, dropped, textBytes, attachments } = header;
  const textEnd = typeof textBytes === 'number' ? textBytes : body.length;
  const told = Object.entries(fieldsOf(meta)).filter((entry): entry is [string, MetaValue] =>
    isMetaValue(entry[1]),
  );
  return {
    title: textOf(title),
    language: textOf(language),
    markdown: body.toString('utf8', 0, textEnd),
    meta: Object.fromEntries(told),
    ...(metadata !== undefined && { metadata: keepValid(fieldsOf(metadata)) }),
    ...(Array.isArray(dropped) && { dropped: dropped.map(droppedOf) }),
    ...(Array.isArray(attachments) && { attachments: filesOf(attachments, body, textEnd) }),
  };
}

function isMetaValue(value: unknown): value is MetaValue {
  if (Array.isArray(value)) return value.every((entry) => typeof entry === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function filesOf(headers: readonly unknown[], body: Buffer, textEnd: number): Attachment[] {
  let start = textEnd;
  return headers.map((header) => {
    const { name, size } = fieldsOf(header);
    const end = start + (typeof size === 'number' && size >= 0 ? size : Number.NaN);
    if (
      typeof name !== 'string' ||
      name !== safeFileName(name) ||
      name === '' ||
      !(end <= body.length)
    ) {
      throw new Failure('parse_crashed', 'the parser returned an invalid attachment');
    }
    const bytes = body.subarray(start, end);
    start = end;
    return { name, bytes };
  });
}

function droppedOf(value: unknown): DroppedText {
  const { reason, text } = fieldsOf(value);
  return { reason: textOf(reason) ?? '', text: textOf(text) ?? '' };
}

function failureOf({ code, message, context }: Record<string, unknown>): Failure {
  const known = typeof code === 'string' && isFailureCode(code) ? code : 'parse_crashed';
  return new Failure(known, textOf(message) ?? 'the parser did not say why', {
    context: fieldsOf(context) as FailureContext,
  });
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value instanceof Object ? { ...value } : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
