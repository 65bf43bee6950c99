/**
 * The main text of an HTML page: parse, list the blocks, ask Readability which it would keep, and
 * weigh the evidence for each. Pages beyond the bounds are read without a tree. Pure, synchronous.
 */
import { type Block, readPage } from './blocks.ts';
import { weigh } from './evidence.ts';
import { flatten } from './flat.ts';
import { languageOf } from './language.ts';
import { toMarkdown, toText } from './markdown.ts';
import { mark } from './marks.ts';
import { type Measure, measure } from './measure.ts';
import { type Metadata, readMetadata } from './metadata.ts';
import { linkShare } from './prose.ts';
import { keepShares } from './readability.ts';
import { type Setting, settle } from './setting.ts';
import { slim } from './slim.ts';
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
  readonly meta: {
    readonly description: string | undefined;
    readonly site: string | undefined;
    readonly type: string | undefined;
    /** Read without a tree, because the page is too deep or too large: all of its text is there. */
    readonly isDegraded: boolean;
  };
}

export type HtmlExtract = HtmlContent | { readonly found: false; readonly reason: NoContentReason };

/** Where a tree would cost more than the page is worth. Real pages stay far below. */
const bounds = {
  treeCharactersMax: 6_000_000,
  depthMax: 500,
  elementsMax: 100_000,
  piecesMax: 150_000,
  tagCharactersMax: 400_000,
};

/** Readability takes time that grows with the square of these, so beyond them it has no vote. */
const votedBounds = { depthMax: 150, elementsMax: 15_000, breaksMax: 1500 };

/** Fewer words than these are no article: then all that is no margin counts as content. */
const articleWordsMin = 25;
/** A page that shows no more words than these, all in all, is a shell or a form. */
const shellWordsMax = 40;
const loginPageWordsMax = 80;

export function extractHtml(html: string, options: { url?: string } = {}): HtmlExtract {
  const slimmed = slim(html);
  const size = measure(slimmed);
  if (slimmed.length > bounds.treeCharactersMax || !isTreeWorthwhile(size)) {
    return extractFlat(html);
  }
  try {
    return extractTree(slimmed, { size, url: options.url, hasScript: /<script/i.test(html) });
  } catch (error) {
    // The libraries recurse and spread: what overflows their stack is read without a tree.
    if (error instanceof RangeError) return extractFlat(html);
    throw error;
  }
}

interface Circumstances {
  readonly size: Measure;
  readonly url: string | undefined;
  readonly hasScript: boolean;
}

function extractTree(html: string, { size, url, hasScript }: Circumstances): HtmlExtract {
  const document = parse(html);
  const metadata = readMetadata(document, url);
  const hasPassword = document.querySelector('input[type="password"]') !== null;
  const { chosen, shown } = choose(document, metadata, hasVote(size));
  if (hasPassword && shown < loginPageWordsMax) return { found: false, reason: 'login_wall' };
  if (hasScript && shown < shellWordsMax && isPlaceholder(chosen)) {
    return { found: false, reason: 'script_only_page' };
  }
  if (chosen.length === 0) return { found: false, reason: 'empty_page' };
  return contentOf(chosen, metadata);
}

function isTreeWorthwhile({ depth, elements, pieces, longestTag }: Measure): boolean {
  return (
    depth <= bounds.depthMax &&
    elements <= bounds.elementsMax &&
    pieces <= bounds.piecesMax &&
    longestTag <= bounds.tagCharactersMax
  );
}

function hasVote({ depth, elements, breaks }: Measure): boolean {
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

interface Choice {
  readonly chosen: readonly Block[];
  /** Words on the whole page. */
  readonly shown: number;
}

function choose(document: TreeDocument, metadata: Metadata, isVoted: boolean): Choice {
  const root = document.documentElement;
  if (root === null) return { chosen: [], shown: 0 };
  const page = readPage(root);
  const kept = isVoted ? keepShares(document, page.blocks) : page.blocks.map(() => 0);
  const setting = settle(page, kept, metadata);
  const chosen = page.blocks.filter((_block, index) => weigh(setting, index) > 0);
  const isArticle = wordsOf(chosen) >= articleWordsMin;
  return { chosen: isArticle ? chosen : allButMargins(setting), shown: wordsOf(page.blocks) };
}

function wordsOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.words, 0);
}

const margins =
  mark.hidden | mark.navigation | mark.footer | mark.form | mark.consent | mark.comment;

/** A page that is nothing but links is a list, and its words are its content. */
function allButMargins({ blocks, marks }: Setting): readonly Block[] {
  const central = blocks.filter((_block, index) => ((marks[index] ?? 0) & margins) === 0);
  const unlinked = central.filter((block) => linkShare(block) < 0.5);
  return wordsOf(unlinked) > 0 ? unlinked : central;
}

/** What a page shows to those without JavaScript, or while it loads. */
function isPlaceholder(blocks: readonly Block[]): boolean {
  const text = blocks.map((block) => block.text).join(' ');
  return text === '' || /javascript|loading|wird geladen|chargement|cargando/i.test(text);
}

function contentOf(blocks: readonly Block[], metadata: Metadata): HtmlContent {
  const text = toText(blocks);
  const { title, author, published, canonical, description, site, type } = metadata;
  return {
    found: true,
    title,
    language: languageOf(metadata.language, text),
    author,
    published,
    canonical,
    text,
    markdown: toMarkdown(blocks),
    meta: { description, site, type, isDegraded: false },
  };
}

function extractFlat(html: string): HtmlExtract {
  const { title, text } = flatten(html);
  if (!/[\p{L}\p{N}]/u.test(text)) return { found: false, reason: 'empty_page' };
  const nothing = { author: undefined, published: undefined, canonical: undefined };
  return {
    found: true,
    title,
    language: languageOf(undefined, text),
    ...nothing,
    text,
    markdown: text,
    meta: { description: undefined, site: undefined, type: undefined, isDegraded: true },
  };
}
