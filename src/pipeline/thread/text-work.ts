/** The kinds of work of a text thread, with their inputs and results. */
import type { ChunkSlice } from '../chunk/chunker.ts';
import type { FoundLink, FoundLinks, PageScope } from '../crawl/page-links.ts';
import type { Extraction } from '../entity/extraction.ts';

/** Each kind has a text; the links of a crawl need more. */
interface TextInputs {
  readonly chunk: { readonly text: string };
  readonly entities: { readonly text: string };
  readonly links: { readonly text: string; readonly scope: PageScope };
  readonly sitemap: { readonly text: string; readonly scope: PageScope };
}

export interface TextResults {
  readonly chunk: readonly ChunkSlice[];
  readonly entities: Extraction;
  readonly links: readonly FoundLink[];
  readonly sitemap: FoundLinks;
}

export type TextWork = keyof TextResults;

export type TextInput<Work extends TextWork> = TextInputs[Work];

/** A message to a thread. */
export type TextMessage = {
  readonly [Work in TextWork]: { readonly work: Work } & TextInput<Work>;
}[TextWork];
