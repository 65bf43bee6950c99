/** The works that a text thread does, what it is asked for each, and what it returns. */
import type { Cut } from '../chunk/chunker.ts';
import type { FoundLink, FoundLinks, PageScope } from '../crawl/found.ts';
import type { Extraction } from '../entity/extraction.ts';

/** Each work has a text; what a crawl looks for in it depends on more. */
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

/** What is sent to a thread. */
export type TextMessage = {
  readonly [Work in TextWork]: { readonly work: Work } & TextQuestion<Work>;
}[TextWork];
