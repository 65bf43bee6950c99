/**
 * The main text of an HTML page: parses it, lists the blocks, gets Readability's vote, and weighs
 * the evidence for each block. Pages above the limits are read without a tree. Pure, synchronous.
 */

import { type Choice, choose, type Dropped } from './article/choose.ts';
import { countTags, type Genre } from './article/genre.ts';
import { type Measure, measure } from './article/measure.ts';
import type { Block } from './block/blocks.ts';
import { toMarkdown, toText } from './block/markdown.ts';
import { flatten } from './page/flat.ts';
import { languageOf } from './page/language.ts';
import { slim } from './page/slim.ts';
import { parseTree, type TreeDocument } from './tree/document.ts';

export type NoContentReason = 'empty_page' | 'script_only_page' | 'login_wall';

export interface HtmlContent {
  readonly found: true;
  readonly title: string | undefined;
  readonly language: string | undefined;
  readonly author: string | undefined;
  readonly published: string | undefined;
  readonly canonical: string | undefined;
  readonly text: string;
  readonly markdown: string;
  /** The share of the words outside navigation that was kept. */
  readonly keptShare: number;
  readonly dropped: readonly Dropped[];
  readonly meta: {
    readonly description: string | undefined;
    readonly site: string | undefined;
    readonly type: string | undefined;
    readonly genre: Genre | undefined;
    /** Read without a tree, because the page is too deep or too large: it has all of its text. */
    readonly isDegraded: boolean;
  };
}

export type HtmlExtract = HtmlContent | { readonly found: false; readonly reason: NoContentReason };

/** Limits above which a tree costs too much. Real pages are far below. */
const bounds = {
  treeCharactersMax: 6_000_000,
  depthMax: 500,
  elementsMax: 100_000,
  piecesMax: 150_000,
  tagCharactersMax: 400_000,
};

/** Readability's time is quadratic in these. */
const votedBounds = { depthMax: 150, elementsMax: 15_000, breaksMax: 1500 };

/** A page with no more words is a shell or a form. */
const shellWordsMax = 40;
const loginPageWordsMax = 80;

export function extractHtml(html: string, options: { url?: string } = {}): HtmlExtract {
  const slimmed = slim(html);
  const size = measure(slimmed);
  if (slimmed.length > bounds.treeCharactersMax || !isTreeWorthwhile(size)) {
    return extractFlat(html);
  }
  try {
    return extractTree(slimmed, { html, size, url: options.url });
  } catch (error) {
    // The libraries recurse and spread arguments: on a stack overflow the page is read without a
    // tree.
    if (error instanceof RangeError) return extractFlat(html);
    throw error;
  }
}

interface Circumstances {
  readonly html: string;
  readonly size: Measure;
  readonly url: string | undefined;
}

function extractTree(slimmed: string, { html, size, url }: Circumstances): HtmlExtract {
  const document = parse(slimmed);
  const hasPassword = document.querySelector('input[type="password"]') !== null;
  const counts = countTags(html, slimmed);
  const choice = choose(document, { url, counts, isLarge: !isVotable(size) });
  const { kept, shown } = choice;
  if (hasPassword && shown < loginPageWordsMax) return { found: false, reason: 'login_wall' };
  if (counts.scripts > 0 && shown < shellWordsMax && isPlaceholder(kept)) {
    return { found: false, reason: 'script_only_page' };
  }
  if (kept.length === 0) return { found: false, reason: 'empty_page' };
  return contentOf(choice);
}

function isTreeWorthwhile({ depth, elements, pieces, longestTag }: Measure): boolean {
  return (
    depth <= bounds.depthMax &&
    elements <= bounds.elementsMax &&
    pieces <= bounds.piecesMax &&
    longestTag <= bounds.tagCharactersMax
  );
}

function isVotable({ depth, elements, breaks }: Measure): boolean {
  return (
    depth <= votedBounds.depthMax &&
    elements <= votedBounds.elementsMax &&
    breaks <= votedBounds.breaksMax
  );
}

/** The parser takes the first element for the root; a fragment, or stray tags, need one. */
function parse(html: string): TreeDocument {
  const document = parseTree(html);
  const isWhole = document.documentElement?.localName === 'html';
  return isWhole ? document : parseTree(`<html><body>${html}</body></html>`);
}

/** Text for browsers without JavaScript, or shown while the page loads. */
function isPlaceholder(blocks: readonly Block[]): boolean {
  const text = blocks.map((block) => block.text).join(' ');
  return text === '' || /javascript|loading|wird geladen|chargement|cargando/i.test(text);
}

function contentOf({ kept, dropped, keptShare, genre, metadata }: Choice): HtmlContent {
  const text = toText(kept);
  const { title, author, published, canonical, description, site, type } = metadata;
  return {
    found: true,
    title,
    language: languageOf(metadata.language, text),
    author,
    published,
    canonical,
    text,
    markdown: toMarkdown(kept),
    keptShare,
    dropped,
    meta: { description, site, type, genre, isDegraded: false },
  };
}

function extractFlat(html: string): HtmlExtract {
  const { title, text } = flatten(html);
  if (!/[\p{L}\p{N}]/u.test(text)) return { found: false, reason: 'empty_page' };
  const undescribed = {
    description: undefined,
    site: undefined,
    type: undefined,
    genre: undefined,
  };
  const nothing = { author: undefined, published: undefined, canonical: undefined };
  return {
    found: true,
    title,
    language: languageOf(undefined, text),
    ...nothing,
    text,
    markdown: text,
    keptShare: 1,
    dropped: [],
    meta: { ...undescribed, isDegraded: true },
  };
}
