/** The browser port, and the decision which pages need it. */
import { limits } from '../../../kernel/limits/limits.ts';
import { flatten } from '../../extract/html/page/flat.ts';

export interface RenderRequest {
  /** The address of the page after all redirects. */
  readonly url: URL;
  /** The page as it was fetched: the browser does not request it again. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
  /** Called before each request of the page; throws to refuse it. */
  readonly admit: (url: URL) => Promise<void>;
}

export interface Rendered {
  /** The address after navigation by the page's scripts. */
  readonly url: URL;
  readonly html: string;
  /** Further requests of the page, and how many were refused. */
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
}

/** Runs the scripts of a page and returns the resulting page. */
export interface Renderer {
  render(request: RenderRequest): Promise<Rendered>;
  close(): Promise<void>;
}

/** `needed`: only pages that show almost no text without their scripts. */
export type RenderWhen = 'needed' | 'always';

/** Judges a page, given as UTF-8: in this thread, or in others if it is long. */
export interface PageMeter {
  isShell(page: Uint8Array, signal: AbortSignal): Promise<boolean>;
  words(page: Uint8Array, signal: AbortSignal): Promise<number>;
}

export const meterHere: PageMeter = {
  isShell: async (page) => isShell(new TextDecoder().decode(page)),
  words: async (page) => wordsOf(new TextDecoder().decode(page)),
};

/** A page with scripts and hardly any words: its text is loaded later, or never. */
export function isShell(html: string): boolean {
  return /<script\b/i.test(html) && wordsOf(html) < limits.browser.shellWordsMax;
}

/** The visible words of a page, in any script. */
function wordsOf(html: string): number {
  const { text } = flatten(html);
  return [...segmenter.segment(text.slice(0, readCharactersMax))].filter(
    ({ isWordLike }) => isWordLike,
  ).length;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** Enough for the few words that matter here, even if the page is mostly markup. */
const readCharactersMax = 4096;
