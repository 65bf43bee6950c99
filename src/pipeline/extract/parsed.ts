/** The input and the output of a parser, for any format. */
import type { Metadata } from '../../kernel/metadata/metadata.ts';

export interface ParseInput {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** The URL or path of the source: for links, for the extension, for messages. */
  readonly source: string;
  /** As declared by the server; the bytes may contradict it. */
  readonly charset?: string | undefined;
  /** Whether to return dropped text too. */
  readonly withDropped?: boolean | undefined;
}

export interface Parsed {
  readonly title: string | null;
  /** BCP 47, if the document declares it. */
  readonly language: string | null;
  /** Headings, lists, tables and code as Markdown: the text to chunk. */
  readonly markdown: string;
  /**
   * Other metadata: author, date, canonical address, pages. `kept_share` and `warnings` report what
   * was not read.
   */
  readonly meta: Readonly<Record<string, MetaValue>>;
  /** Metadata that the document states of itself: its front matter. */
  readonly metadata?: Metadata | undefined;
  /** The text of each page, in order, for formats with pages. */
  readonly pages?: readonly PageText[] | undefined;
  /** The dropped text, if it was requested. */
  readonly dropped?: readonly DroppedText[] | undefined;
  /**
   * The attachments of a mail, which become documents of their own. Undefined if it is not a mail.
   */
  readonly attachments?: readonly Attachment[] | undefined;
}

export interface Attachment {
  /** A safe file name, unique within its mail. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface PageText {
  readonly page: number;
  readonly text: string;
}

export type MetaValue = string | number | boolean | readonly string[];

export interface DroppedText {
  readonly reason: string;
  readonly text: string;
}

/** The share of the text that was kept; 1 if the parser does not state it. */
export function keptShareOf(meta: Parsed['meta']): number {
  return typeof meta.kept_share === 'number' ? meta.kept_share : 1;
}

/** Why some of the text was not read, in sentences. */
export function warningsOf(meta: Parsed['meta']): readonly string[] {
  return Array.isArray(meta.warnings) ? meta.warnings : [];
}

/** Throws a `Failure` with a specific code if there is no text. */
export type Parser = (input: ParseInput, signal: AbortSignal) => Promise<Parsed>;
