/**
 * The genre of a page, which decides how its text is chosen: in an article, each block is weighed;
 * any other page keeps its region.
 *
 * Declarations of the page decide first. Between an article and a reference page, a table of
 * observations decides: a logistic regression over pages of manuals and news sites, rounded
 * (docs/decisions/0076). No row names a site or the generator of a manual.
 */
import type { Block, Page } from '../block/blocks.ts';
import type { Metadata } from '../page/metadata.ts';
import { clutterMarks } from './clutter.ts';
import { mark } from './element-marks.ts';
import { isProse } from './prose.ts';
import type { Reasons } from './region.ts';

export type Genre = 'article' | 'reference' | 'index' | 'forum' | 'product';

/** Counted in the markup, which is faster than in a tree. */
export interface TagCounts {
  readonly scripts: number;
  readonly images: number;
  /** Headings with an anchor. */
  readonly anchors: number;
  /** Inline code elements. */
  readonly codes: number;
}

export interface Look {
  readonly page: Page;
  readonly metadata: Metadata;
  /** Per block why it is outside the region of the main text, if it is. */
  readonly outside: Reasons;
  readonly counts: TagCounts;
}

export function countTags(html: string, slimmed: string): TagCounts {
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return {
    scripts: count(html, /<script/gi),
    images: count(slimmed, /<img/g),
    anchors:
      count(slimmed, /<(?:h[1-6]|section)\s[^>]{0,200}?id=/g) +
      count(slimmed, /<h[1-6][^>]{0,200}><a\s[^>]{0,200}?(?:id=|name=|href="#)/g),
    codes: count(slimmed, /<(?:code|tt|kbd|samp|var)[\s>]/g),
  };
}

/** Above this share of links, the region is a list of other pages. */
const indexLinkedMin = 0.6;

export interface Judgement {
  readonly genre: Genre;
  readonly method: Method;
  /** Whether names such as comment or teaser are ignored, because the site has none. */
  readonly keepsClutter: boolean;
}

/**
 * `weigh`: block by block. `span`: all between the first and the last kept block, if hardly any
 * text is outside; `wideSpan` drops more. `region`: all but the margins.
 */
export type Method = 'weigh' | 'span' | 'wideSpan' | 'region';

export function judge(look: Look): Judgement {
  const { type = '' } = look.metadata;
  if (/^(?:qapage|question|discussionforumposting)$/i.test(type)) return region('forum');
  const seen = observe(look);
  let sum = start;
  let positive = 0;
  for (const { name, weight, isProof } of observations) {
    sum += weight * seen[name];
    if (isProof) positive += weight * seen[name];
  }
  if (sum > likely && seen.linked > indexLinkedMin) return region('index');
  const isProven = positive > proofMin;
  const isPlain = isProven || seen.prose < proseMin;
  const isRegion = isPlain && (sum > certain || isBare(seen, sum, isProven));
  if (isRegion) return { ...region('reference'), keepsClutter: isProven };
  if (sum > likely) {
    return { genre: 'reference', method: isPlain ? 'span' : 'wideSpan', keepsClutter: false };
  }
  const genre = /^product/i.test(type) ? 'product' : 'article';
  return { genre, method: 'weigh', keepsClutter: false };
}

/**
 * Without a date, a declaration and clutter there is nothing for a vote to drop. In a manual, a
 * single kind of clutter may mean something else: for example comments in code.
 */
function isBare(seen: Observed, sum: number, isProven: boolean): boolean {
  if (seen.published + seen.declared > 0) return false;
  if (!isProven) return sum > likely && seen.clutterKinds === 0;
  const isDoubted = sum < (seen.prose < proseMin ? possible : likely);
  return !isDoubted && seen.clutterKinds < 2 / clutter.length;
}

const region = (genre: Genre): Judgement => ({ genre, method: 'region', keepsClutter: true });

/** The initial score: without observations a page is a reference, which loses nothing. */
const start = 2.3;
/** Above this, no vote is held. */
const certain = 1.2;
/**
 * The minimum weight of observations that only manuals have. A page without clutter may be
 * anything.
 */
const proofMin = 0.5;
/** A page with few paragraphs is not an article either. */
const proseMin = 0.4;
/** Below this, the page is an article. */
const likely = -0.7;
/** Unless it has little prose and signs of a manual: scripts and pictures alone prove less. */
const possible = -2;

interface Observation {
  readonly name: keyof Observed;
  readonly weight: number;
  /** An observation that only manuals have. */
  readonly isProof?: boolean;
  readonly reason: string;
}

const observations: readonly Observation[] = [
  { name: 'code', weight: 1, isProof: true, reason: 'articles seldom show code' },
  {
    name: 'terms',
    weight: 0.4,
    isProof: true,
    reason: 'definition lists define options and functions',
  },
  { name: 'headings', weight: 0.8, reason: 'manuals have a heading every few paragraphs' },
  { name: 'prose', weight: -1.6, reason: 'an article is prose throughout' },
  { name: 'clutterKinds', weight: -1.9, reason: 'shares, comments, teasers, bylines' },
  { name: 'clutterElements', weight: -1.9, reason: 'and how many of them' },
  { name: 'published', weight: -2.3, reason: 'news has a date' },
  { name: 'declared', weight: -1.6, reason: 'it says that it is an article' },
  { name: 'scripts', weight: -3, reason: 'sites that live of visits measure them' },
  { name: 'images', weight: -3.1, reason: 'teasers come with pictures' },
  { name: 'anchors', weight: 1.3, isProof: true, reason: 'headings that other pages point at' },
  {
    name: 'codes',
    weight: 3.1,
    isProof: true,
    reason: 'names of functions and options within sentences',
  },
  { name: 'inside', weight: 0.8, reason: 'a manual has little around its text' },
];

type Observed = Readonly<ReturnType<typeof observe>>;

function observe(look: Look) {
  const { page, metadata, outside, counts } = look;
  const sum = { all: 0, own: 0, linked: 0, code: 0, terms: 0, headings: 0, prose: 0 };
  for (const [index, block] of page.blocks.entries()) {
    sum.all += block.words;
    if (outside[index] !== undefined) continue;
    sum.own += block.words;
    sum.linked += Math.min(block.words, block.linkedWords);
    if (block.kind === 'heading') sum.headings += 1;
    if (block.kind === 'code') sum.code += block.words;
    if (isTerm(block)) sum.terms += block.words;
    if (isProse(block)) sum.prose += block.words;
  }
  const own = Math.max(1, sum.own);
  return {
    code: Math.min(1, (5 * sum.code) / own),
    terms: Math.min(1, (2 * sum.terms) / own),
    headings: Math.min(1, (50 * sum.headings) / own),
    prose: sum.prose / own,
    linked: sum.linked / own,
    ...countClutter(page),
    published: metadata.published === undefined ? 0 : 1,
    declared: /article|posting|news/i.test(metadata.type ?? '') ? 1 : 0,
    scripts: Math.min(1, Math.log2(1 + counts.scripts) / 6),
    images: Math.min(1, Math.log2(1 + counts.images) / 6),
    inside: sum.own / Math.max(1, sum.all),
    anchors: Math.min(1, counts.anchors / Math.max(1, sum.headings)),
    codes: Math.min(1, (30 * counts.codes) / own),
  };
}

function isTerm({ kind, marker }: Block): boolean {
  return kind === 'item' && marker === '';
}

const clutter: readonly number[] = [...clutterMarks, mark.byline];

function countClutter({ scopes }: Page) {
  let kinds = 0;
  let elements = 0;
  for (const bit of clutter) {
    const count = scopes.filter(({ marks }) => (marks & bit) !== 0).length;
    elements += count;
    if (count > 0) kinds += 1;
  }
  return {
    clutterKinds: kinds / clutter.length,
    clutterElements: Math.min(1, Math.log2(1 + elements) / 8),
  };
}
