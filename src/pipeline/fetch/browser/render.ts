/** The port to a browser, and the decision which pages need one. */
import { limits } from '../../../kernel/limits/limits.ts';
import { flatten } from '../../extract/html/page/flat.ts';

export interface RenderRequest {
  /** Where the page was read from, after all redirects. */
  readonly url: URL;
  /** The page as it was read: a browser does not ask for it a second time. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
  /** Asked before anything that the page wants is read; throws to refuse it. */
  readonly admit: (url: URL) => Promise<void>;
}

export interface Rendered {
  /** Where the page's own scripts have led. */
  readonly url: URL;
  readonly html: string;
  /** What the page asked for beside itself, and what of it was refused. */
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
}

/** Runs the scripts of a page and hands back what it then shows. */
export interface Renderer {
  render(request: RenderRequest): Promise<Rendered>;
  close(): Promise<void>;
}

/** `needed`: only pages that show next to nothing without their scripts. */
export type RenderWhen = 'needed' | 'always';

export function needsRendering(html: string, when: RenderWhen): boolean {
  return when === 'always' || isShell(html);
}

/** A page with scripts and hardly a word: its text comes later, or never. */
export function isShell(html: string): boolean {
  return /<script\b/i.test(html) && wordsOf(html) < limits.browser.shellWordsMax;
}

/** Words that the page shows, in whatever script they are written. */
export function wordsOf(html: string): number {
  const { text } = flatten(html);
  return [...segmenter.segment(text.slice(0, readCharactersMax))].filter(
    ({ isWordLike }) => isWordLike,
  ).length;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** Enough for the few words that matter here, also of a page that is mostly marks. */
const readCharactersMax = 4096;
