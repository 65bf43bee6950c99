/** What goes into a parser and what comes out of it, whatever the format. */

export interface ParseInput {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** The address or the path it came from: for links, for the extension, for messages. */
  readonly source: string;
  /** As the server said it; the bytes themselves may say otherwise. */
  readonly charset?: string | undefined;
  /** Return what was dropped as well. */
  readonly withDropped?: boolean | undefined;
}

export interface Parsed {
  readonly title: string | null;
  /** BCP 47, where the document says it. */
  readonly language: string | null;
  /** Headings, lists, tables and code as Markdown: what is chunked. */
  readonly markdown: string;
  /**
   * What else the document says of itself: author, date, canonical address, pages. `kept_share` and
   * `warnings` say what was not read of it.
   */
  readonly meta: Readonly<Record<string, MetaValue>>;
  /** The text of each page, in order, from the reader of a format that has pages. */
  readonly pages?: readonly PageText[] | undefined;
  /** What was left out of the text, if that was asked for. */
  readonly dropped?: readonly DroppedText[] | undefined;
  /** The files of a mail, which become documents of their own. Undefined: this is no mail. */
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

/** The share of the text that was kept. A parser that dropped nothing need not say so. */
export function keptShareOf(meta: Parsed['meta']): number {
  return typeof meta.kept_share === 'number' ? meta.kept_share : 1;
}

/** Why some of the text was not read, in sentences. */
export function warningsOf(meta: Parsed['meta']): readonly string[] {
  return Array.isArray(meta.warnings) ? meta.warnings : [];
}

/** Throws a `Failure` where there is no text to be had, with the code that says why. */
export type Parser = (input: ParseInput, signal: AbortSignal) => Promise<Parsed>;
