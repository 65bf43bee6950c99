/**
 * Chooses the blocks that are the page's text. The region comes first: navigation, hidden elements
 * and everything outside the main element is dropped. The genre of the page then decides how much a
 * vote on single blocks counts. Each dropped block has a reason.
 */
import { type Block, type Page, readPage } from '../block/blocks.ts';
import { type Metadata, readMetadata } from '../page/metadata.ts';
import type { TreeDocument } from '../tree/document.ts';
import { type BlockContext, contextOf } from './block-context.ts';
import { clutterShareMax } from './clutter.ts';
import { mark } from './element-marks.ts';
import { weigh } from './evidence.ts';
import { type Genre, judge, type Method, type TagCounts } from './genre.ts';
import { isText, type Substance, shareKept, substanceOf } from './kept-share.ts';
import { isProse, linkShare, plain } from './prose.ts';
import { keepShares } from './readability.ts';
import {
  type DropReason,
  findRegion,
  isIn,
  isMainHeading,
  isTable,
  type Reasons,
} from './region.ts';

export interface Choice {
  readonly genre: Genre;
  readonly metadata: Metadata;
  readonly kept: readonly Block[];
  readonly dropped: readonly Dropped[];
  readonly keptShare: number;
  /** Words on the whole page. */
  readonly shown: number;
}

export interface Dropped {
  readonly reason: DropReason;
  readonly text: string;
}

export interface Circumstances {
  readonly url: string | undefined;
  readonly counts: TagCounts;
  /** Readability's time is quadratic, so a large page is voted on without it. */
  readonly isLarge: boolean;
}

export function choose(document: TreeDocument, circumstances: Circumstances): Choice {
  const { url, counts, isLarge } = circumstances;
  const root = document.documentElement;
  const page: Page = root === null ? { blocks: [], scopes: [], parents: [0] } : readPage(root);
  const { blocks } = page;
  const tab = document.querySelector('title')?.textContent ?? '';
  const outside = findRegion(page, tab);
  const heading = headingOf(page, tab, outside);
  const metadata = readMetadata(document, { url, heading });
  const { genre, method, keepsClutter } = judge({ page, metadata, outside, counts });
  const substance = substanceOf(page, outside);
  const region = keepsClutter ? outside : withoutClutter(outside, substance);
  const vote = () => (isLarge ? voteByRegion(blocks, outside) : keepShares(document, blocks));
  const reasons =
    method === 'region'
      ? region
      : weighAll({ page, outside, region, substance, method }, contextOf(page, vote(), metadata));
  return {
    genre,
    // On a page of a manual, the tab title names the manual and the heading the page.
    metadata:
      method !== 'weigh' && heading !== undefined ? { ...metadata, title: heading } : metadata,
    kept: blocks.filter((_block, index) => reasons[index] === undefined),
    dropped: blocks.flatMap(({ text }, index) => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ reason, text }];
    }),
    keptShare: shareKept(substance, reasons),
    shown: wordsOf(blocks),
  };
}

/**
 * The page's own heading, which the tab title may hide behind the name of the site. Of several
 * headings it is the one in the tab title, if any; the others are chapters.
 */
function headingOf(page: Page, tab: string, outside: Reasons): string | undefined {
  const headings = page.blocks.filter(
    (block, index) => isMainHeading(block) && outside[index] === undefined,
  );
  const heading = headings.length > 1 ? headings.find(isIn(tab)) : headings[0];
  return heading?.text.replace(/\s+/g, ' ');
}

/** Replaces Readability, in one pass: text inside the region. */
function voteByRegion(blocks: readonly Block[], outside: Reasons): number[] {
  return blocks.map((block, index) => {
    const isText = isProse(block) || block.kind === 'code' || block.kind === 'row';
    return isText && outside[index] === undefined ? 1 : 0;
  });
}

/** Without other evidence, elements named like clutter are clutter. */
function withoutClutter(outside: Reasons, { isClutter, clutterShare }: Substance): Reasons {
  // Many small boxes that are all named like clutter are the content of the page.
  if (clutterShare > clutterShareMax) return outside;
  return outside.map((reason, index) => reason ?? (isClutter[index] ? 'clutter' : undefined));
}

interface Weighed {
  readonly page: Page;
  readonly outside: Reasons;
  /** The result if the vote is not followed. */
  readonly region: Reasons;
  readonly substance: Substance;
  readonly method: Exclude<Method, 'region'>;
}

/** Fewer words are not an article: then everything outside the margins is content. */
const articleWordsMin = 25;
/** A span may drop this share of the text at its ends; beyond it, the whole region stays. */
const spanLossMax = { span: 0.05, wideSpan: 0.3 };
/** An article that would lose more of its text is not one: its region stays. */
const articleLossMax = 0.85;

function weighAll(weighed: Weighed, context: BlockContext): Reasons {
  const { page, outside, region, substance, method } = weighed;
  const { blocks } = page;
  const isKept = blocks.map((_block, index) => weigh(context, index) > 0);
  const kept = blocks.filter((_block, index) => isKept[index]);
  if (wordsOf(kept) < articleWordsMin) return method === 'weigh' ? allButMargins(context) : region;
  const loss = (reasons: Reasons) => 1 - shareKept(substance, reasons);
  if (method !== 'weigh') {
    const span = spanOf(blocks, isKept, region);
    return loss(span) <= spanLossMax[method] ? span : region;
  }
  const isElsewhere = 2 * wordsOf(declaredOutside(context, outside, isKept)) > wordsOf(kept);
  keepHeadings(context, outside, isKept);
  const chosen = isKept.map((keep, index) =>
    keep ? undefined : (outside[index] ?? 'not_main_text'),
  );
  return isElsewhere || loss(chosen) <= articleLossMax ? chosen : region;
}

/**
 * The kept words outside the region and in an element declared as the article's: if they are the
 * majority, the region is something else, for example comments in a main element.
 */
function declaredOutside(
  { blocks, marks }: BlockContext,
  outside: Reasons,
  isKept: readonly boolean[],
): readonly Block[] {
  return blocks.filter((_block, index) => {
    const isDeclared = ((marks[index] ?? 0) & mark.main) !== 0;
    return isKept[index] && isDeclared && outside[index] !== undefined;
  });
}

/**
 * All of the region between the first and the last block of main text, without splitting blocks.
 */
function spanOf(blocks: readonly Block[], isKept: readonly boolean[], region: Reasons): Reasons {
  let first = isKept.indexOf(true);
  for (let index = first - 1; index >= 0; index -= 1) {
    if (region[index] !== undefined) continue;
    if (blocks[index]?.kind !== 'heading') break;
    first = index;
  }
  let last = isKept.lastIndexOf(true);
  while (isTable(blocks[first]) && blocks[first]?.table === blocks[first - 1]?.table) first -= 1;
  while (isTable(blocks[last]) && blocks[last]?.table === blocks[last + 1]?.table) last += 1;
  return region.map((reason, index) =>
    index >= first && index <= last ? reason : (reason ?? 'not_main_text'),
  );
}

/**
 * A heading is kept with its section: if the text after it was kept. Exceptions are the title,
 * which is kept separately, and headings that repeat, are quoted, link away or are in a figure:
 * they head inserts.
 */
function keepHeadings(context: BlockContext, outside: Reasons, isKept: boolean[]): void {
  const { blocks, marks, titles, counts } = context;
  const first = isKept.indexOf(true);
  for (let index = blocks.length - 2; index > first; index -= 1) {
    const block = blocks[index];
    if (block?.kind !== 'heading' || isKept[index] || outside[index] !== undefined) continue;
    const isTeaser = linkShare(block) > 0.5 || ((marks[index] ?? 0) & inserts) !== 0;
    const isInsert = isTeaser || block.quote > 0 || (counts.get(block.text) ?? 0) > 1;
    const next = blocks[index + 1];
    const isHead = isKept[index + 1] && next !== undefined && isText(next);
    if (isHead && !isInsert && !titles.has(plain(block.text))) isKept[index] = true;
  }
}

const inserts = mark.figure | mark.caption | mark.related | mark.promotion | mark.newsletter;

function wordsOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.words, 0);
}

const margins =
  mark.hidden | mark.navigation | mark.footer | mark.form | mark.consent | mark.comment;

/** A page of links only is a list, and its words are its content. */
function allButMargins({ blocks, marks }: BlockContext): Reasons {
  const isCentral = blocks.map((_block, index) => ((marks[index] ?? 0) & margins) === 0);
  const isUnlinked = blocks.map((block, index) => isCentral[index] && linkShare(block) < 0.5);
  const isKept = isUnlinked.some(Boolean) ? isUnlinked : isCentral;
  return isKept.map((keep, index) => {
    if (keep) return undefined;
    return isCentral[index] ? 'links' : 'navigation';
  });
}
