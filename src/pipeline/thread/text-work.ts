/** The kinds of work of a text thread, with their inputs and results. */
import type { Chunking } from '../../kernel/text/chunking.ts';
import type { ChunkSlice } from '../chunk/chunker.ts';
import type { FeedReading } from '../crawl/feed-text.ts';
import type { FoundLink, FoundLinks, PageScope } from '../crawl/page-links.ts';
import type { Extraction } from '../entity/extraction.ts';

/** Each kind has a text, as characters or as bytes. */
interface TextInputs {
  readonly chunk: { readonly text: string; readonly chunking?: Chunking | undefined };
  readonly entities: { readonly text: string };
  readonly links: { readonly text: string; readonly scope: PageScope };
  readonly sitemap: { readonly text: Uint8Array; readonly scope: PageScope };
  readonly feed: { readonly text: Uint8Array; readonly charset: string; readonly address: string };
  readonly shell: { readonly text: Uint8Array };
  readonly words: { readonly text: Uint8Array };
}

export interface TextResults {
  readonly chunk: readonly ChunkSlice[];
  readonly entities: Extraction;
  readonly links: readonly FoundLink[];
  readonly sitemap: FoundLinks;
  readonly feed: FeedReading;
  /** Whether a page is an empty shell for scripts. */
  readonly shell: boolean;
  /** The number of visible words of a page, as far as they matter. */
  readonly words: number;
}

export type TextWork = keyof TextResults;

export type TextInput<Work extends TextWork> = TextInputs[Work];

/** A message to a thread. */
export type TextMessage = {
  readonly [Work in TextWork]: { readonly work: Work } & TextInput<Work>;
}[TextWork];
