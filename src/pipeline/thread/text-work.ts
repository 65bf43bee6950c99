/** The kinds of work of a text thread, with their inputs and results. */
import type { Cut } from '../chunk/chunker.ts';
import type { FoundLink, FoundLinks, PageScope } from '../crawl/found.ts';
import type { Extraction } from '../entity/extraction.ts';

/** Each kind has a text; the links of a crawl need more. */
interface TextQuestions {
  readonly cut: { readonly text: string };
  readonly entities: { readonly text: string };
  readonly links: { readonly text: string; readonly scope: PageScope };
  readonly sitemap: { readonly text: string; readonly scope: PageScope };
}

export interface TextAnswers {
  readonly cut: readonly Cut[];
  readonly entities: Extraction;
  readonly links: readonly FoundLink[];
  readonly sitemap: FoundLinks;
}

export type TextWork = keyof TextAnswers;

export type TextQuestion<Work extends TextWork> = TextQuestions[Work];

/** A message to a thread. */
export type TextMessage = {
  readonly [Work in TextWork]: { readonly work: Work } & TextQuestion<Work>;
}[TextWork];
