/**
 * The text of a page by position: everything in the main element except navigation, repetitions,
 * forms and hidden elements. For pages that are all content, where a list, a table or a line of
 * code counts as much as a paragraph.
 */
import { leadsAway } from '../block/anchor.ts';
import type { Block, Page, Scope } from '../block/blocks.ts';
import type { TreeNode } from '../tree/node.ts';
import { isSlugOfHeading } from './clutter.ts';
import { mark, marksOfNames } from './element-marks.ts';
import { linkShare, plain } from './prose.ts';

export type DropReason =
  | 'hidden'
  | 'navigation'
  | 'footer'
  | 'header'
  | 'form'
  | 'consent'
  | 'clutter'
  | 'links'
  | 'outside'
  | 'not_main_text';

/** Per block why it is not text of the page; undefined if it is. */
export type Reasons = readonly (DropReason | undefined)[];

/** An element with more of the page's unlinked words is not a margin. */
const marginShareMax = 0.4;
const mainShareMin = 0.5;
const namedMainShareMin = 0.8;
const dominantShareMin = 0.7;
const linkedMin = 0.5;
/** The share of links of an element that only its links distinguish from the text. */
const sectionLinkedMin = 0.7;
const labelWordsMax = 40;
/** So many words next to the navigation are a page. */
const pageWordsMin = 30;
/** Longer is not a title. */
const headWordsMax = 20;
/** Longer is not the head of a page. */
const summaryWordsMax = 120;

/** The content of an element. */
interface ElementContent {
  readonly words: number;
  readonly linked: number;
  /** The share of the page's unlinked words, and of all its words. */
  readonly share: number;
  readonly wordShare: number;
}

type Hold = (start: number, end: number) => ElementContent;

/** `title` is the tab title. */
export function findRegion(page: Page, title = ''): Reasons {
  const { blocks, scopes } = page;
  const reasons: (DropReason | undefined)[] = blocks.map(() => undefined);
  const hold = holder(blocks);
  const isMain = mainBlocks(page);
  for (const scope of scopes) {
    const reason = marginOf(page, scope, hold(scope.start, scope.end));
    if (reason === undefined) continue;
    // An element around the main one is not a margin, unless it is hidden.
    if (reason !== 'hidden' && isMain(scope)) continue;
    for (let index = scope.start; index < scope.end; index += 1) reasons[index] ??= reason;
  }
  const inner = holder(blocks, reasons);
  const main = mainOf(scopes, inner);
  if (main !== undefined) {
    for (const index of reasons.keys()) {
      if (index < main.start || index >= main.end) reasons[index] ??= 'outside';
    }
    keepHead(page, { main, title }, reasons);
  }
  // An element that is only named like a main one may contain navigation too.
  if (main === undefined || !isLandmark(main)) {
    dropLinkedSections(page, reasons);
    dropEnds(blocks, reasons);
  }
  return reasons;
}

/** A first-level heading that is not a link to another page. */
export function isMainHeading(block: Block): boolean {
  if (block.kind !== 'heading' || block.level !== 1) return false;
  return linkShare(block) === 0 || !block.runs.every(({ node }) => isLinked(node));
}

/** Links within the page do not count. */
function isLinked(node: TreeNode): boolean {
  let place = node.parentNode;
  while (place !== null && 'localName' in place && place.localName !== 'h1') {
    if (place.localName === 'a' && leadsAway(place, 'heading')) return true;
    place = place.parentNode;
  }
  return false;
}

interface Head {
  readonly main: Scope;
  readonly title: string;
}

/**
 * The only main heading of a page is part of its text even if it precedes the main element,
 * together with the rest of its element: many manuals have their summary there.
 */
function keepHead(page: Page, { main, title }: Head, reasons: (DropReason | undefined)[]): void {
  const { blocks, parents } = page;
  const at = headOf(blocks, title, reasons);
  const section = blocks[at]?.section ?? 0;
  if (at < 0 || at >= main.start) return;
  const isAround = isWithin(parents, blocks[main.start]?.section ?? 0, section);
  let end = at;
  let words = 0;
  for (; end < main.start; end += 1) {
    const own = blocks[end]?.section ?? 0;
    if (own !== section && (isAround || !isWithin(parents, own, section))) break;
    words += blocks[end]?.words ?? 0;
  }
  if (words > summaryWordsMax) return;
  for (let index = at; index < end; index += 1) {
    if (reasons[index] === 'outside') reasons[index] = undefined;
  }
}

/** The main heading in the tab title, or the only one; without one, the end of the tab title. */
function headOf(blocks: readonly Block[], title: string, reasons: Reasons): number {
  const headings = blocks.filter(
    (block, index) => isMainHeading(block) && isNoMargin(reasons[index]),
  );
  const heading = headings.length > 1 ? headings.find(isIn(title)) : headings[0];
  if (heading !== undefined) return blocks.indexOf(heading);
  const tab = plain(title);
  return blocks.findIndex((block, index) => {
    if (headings.length > 0 || block.words > headWordsMax || linkShare(block) > 0) return false;
    const text = plain(block.text);
    return isNoMargin(reasons[index]) && text !== '' && tab !== text && tab.endsWith(text);
  });
}

/** Whether a title contains the words of a block. */
export function isIn(title: string): (block: Block) => boolean {
  const words = plain(title);
  return ({ text }) => plain(text) !== '' && words.includes(plain(text));
}

function isNoMargin(reason: DropReason | undefined): boolean {
  return reason === undefined || reason === 'outside';
}

function isWithin(parents: readonly number[], section: number, outer: number): boolean {
  let at = section;
  while (at > outer) at = parents[at] ?? 0;
  return at === outer;
}

/** Whether an element is, or contains, one that is declared as the main one. */
function mainBlocks({ blocks, scopes }: Page): (scope: Scope) => boolean {
  const ends = new Map<number, number>();
  for (const { marks, start, end } of scopes) {
    if ((marks & mark.main) !== 0) ends.set(start, Math.min(end, ends.get(start) ?? end));
  }
  const before = [0];
  for (const index of blocks.keys()) before.push((before[index] ?? 0) + (ends.has(index) ? 1 : 0));
  // Elements nest: one that starts inside another also ends inside it.
  return ({ start, end }) =>
    (ends.get(start) ?? Number.POSITIVE_INFINITY) <= end ||
    (before[end] ?? 0) > (before[start + 1] ?? 0);
}

function holder(blocks: readonly Block[], reasons?: readonly (DropReason | undefined)[]): Hold {
  const words = [0];
  const linked = [0];
  for (const [index, block] of blocks.entries()) {
    const counts = reasons?.[index] === undefined;
    words.push((words[index] ?? 0) + (counts ? block.words : 0));
    linked.push((linked[index] ?? 0) + (counts ? Math.min(block.words, block.linkedWords) : 0));
  }
  const between = (sums: readonly number[], start: number, end: number) =>
    (sums[end] ?? 0) - (sums[start] ?? 0);
  const allWords = Math.max(1, between(words, 0, blocks.length));
  const unlinked = Math.max(1, allWords - between(linked, 0, blocks.length));
  return (start, end) => {
    const own = between(words, start, end);
    const ownLinked = between(linked, start, end);
    const share = (own - ownLinked) / unlinked;
    return { words: own, linked: ownLinked, share, wordShare: own / allWords };
  };
}

function marginOf(page: Page, scope: Scope, content: ElementContent): DropReason | undefined {
  const { element } = scope;
  if ((scope.marks & mark.hidden) !== 0) return 'hidden';
  const role = element.getAttribute('role');
  const isNavigation = element.localName === 'nav' || role === 'navigation';
  const isLinks = content.linked >= linkedMin * content.words;
  // The table of contents of a whole manual may be next to a page of a few lines.
  const rest = content.words * (1 / Math.max(content.wordShare, 1e-6) - 1);
  if (isNavigation && isLinks && rest >= pageWordsMin) return 'navigation';
  if (Math.min(content.share, content.wordShare) > marginShareMax) return undefined;
  if (isNavigation) return 'navigation';
  if (role === 'search') return 'form';
  const marks = isSlugOfHeading(page, scope) ? scope.marks & marksOfNames(element) : scope.marks;
  const isLabel = content.words <= labelWordsMax;
  if ((marks & mark.navigation) !== 0 && (isLinks || isLabel)) return 'navigation';
  if ((marks & mark.footer) !== 0 && (isLinks || content.share < 0.1)) return 'footer';
  if ((marks & mark.header) !== 0 && !hasHeading(page, scope)) return 'header';
  if ((marks & mark.consent) !== 0 && content.share < 0.1) return 'consent';
  if ((marks & mark.form) !== 0 && isLabel) return 'form';
  if ((marks & (mark.aside | mark.related | mark.promotion | mark.share)) !== 0 && isLinks) {
    return 'links';
  }
  return undefined;
}

function hasHeading({ blocks }: Page, { start, end }: Scope): boolean {
  for (let index = start; index < end; index += 1) {
    if (blocks[index]?.kind === 'heading') return true;
  }
  return false;
}

function isLandmark({ element }: Scope): boolean {
  return element.localName === 'main' || element.getAttribute('role') === 'main';
}

function mainOf(scopes: readonly Scope[], hold: Hold): Scope | undefined {
  let best: { scope: Scope; share: number } | undefined;
  for (const scope of scopes) {
    if (!isLandmark(scope)) continue;
    const { share: unlinked, wordShare } = hold(scope.start, scope.end);
    const share = Math.max(unlinked, wordShare);
    if (share >= mainShareMin && share > (best?.share ?? 0)) best = { scope, share };
  }
  if (best !== undefined) return best.scope;
  const named = mark.content | mark.article | mark.body;
  let smallest: Scope | undefined;
  for (const scope of scopes) {
    if ((scope.marks & named) === 0) continue;
    if (hold(scope.start, scope.end).share < namedMainShareMin) continue;
    const isSmaller =
      smallest === undefined || scope.end - scope.start < smallest.end - smallest.start;
    if (isSmaller) smallest = scope;
  }
  return smallest;
}

/**
 * Next to the element with most of the text, an element full of links leads to other pages. One
 * with a heading of its own may be a section of the text.
 */
function dropLinkedSections(page: Page, reasons: (DropReason | undefined)[]): void {
  const { blocks, parents } = page;
  const sums = sumSections(page, reasons);
  const all = (sums[0]?.words ?? 0) - (sums[0]?.linked ?? 0);
  let main = 0;
  const isAround = sums.map(({ words, linked }, section) => {
    const isMain = section === 0 || words - linked >= dominantShareMin * all;
    if (isMain) main = section;
    return isMain;
  });
  const isHeaded = new Set(
    blocks.filter(({ kind }) => kind === 'heading').map(({ section }) => section),
  );
  const isBeside: boolean[] = [];
  for (const [section, parent] of parents.entries()) {
    const { words, linked } = sums[section] ?? { words: 0, linked: 0 };
    const isFree = section > 0 && !isAround[section] && !isHeaded.has(section);
    const isNeighbour = isFree && parent !== main && isAround[parent] === true;
    isBeside.push(isBeside[parent] === true || (isNeighbour && linked >= sectionLinkedMin * words));
  }
  for (const [index, block] of blocks.entries()) {
    if (isBeside[block.section]) reasons[index] ??= 'links';
  }
}

/** The content of each section. A section comes after its parent, so one upward pass sums them. */
function sumSections({ blocks, parents }: Page, reasons: Reasons) {
  const sums = parents.map(() => ({ words: 0, linked: 0 }));
  for (const [index, block] of blocks.entries()) {
    const sum = sums[block.section];
    if (sum === undefined || reasons[index] !== undefined) continue;
    sum.words += block.words;
    sum.linked += Math.min(block.words, block.linkedWords);
  }
  for (let section = parents.length - 1; section > 0; section -= 1) {
    const [sum, outer] = [sums[section], sums[parents[section] ?? 0]];
    if (sum === undefined || outer === undefined) continue;
    outer.words += sum.words;
    outer.linked += sum.linked;
  }
  return sums;
}

/** So many linked words at the ends of a page lead to its neighbours; more are a list. */
const endWordsMax = 60;

/** Links before the first and after the last unlinked words, unless they have a heading. */
function dropEnds(blocks: readonly Block[], reasons: (DropReason | undefined)[]): void {
  const isLinks = (index: number) => {
    const block = blocks[index];
    if (block === undefined || reasons[index] !== undefined) return true;
    if (isMainHeading(block)) return false;
    return linkShare(block) > (block.kind === 'heading' ? 0.95 : 0.6);
  };
  let first = 0;
  while (first < blocks.length && isLinks(first)) first += 1;
  let last = blocks.length - 1;
  while (last >= first && isLinks(last)) last -= 1;
  if (last < first) return;
  // A table is never split, regardless of its last rows.
  while (isTable(blocks[last]) && blocks[last]?.table === blocks[last + 1]?.table) last += 1;
  while (isTable(blocks[first]) && blocks[first]?.table === blocks[first - 1]?.table) first -= 1;
  const end = blocks[last]?.kind === 'heading' ? blocks.length : last + 1;
  const isEnd = (index: number) => index < first || index >= end;
  const words = blocks.reduce(
    (sum, block, index) => sum + (isEnd(index) && reasons[index] === undefined ? block.words : 0),
    0,
  );
  if (words > endWordsMax) return;
  for (const index of blocks.keys()) if (isEnd(index)) reasons[index] ??= 'links';
}

export function isTable(block: Block | undefined): boolean {
  return block !== undefined && block.table !== 0;
}
