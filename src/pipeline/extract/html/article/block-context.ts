/**
 * The surroundings of each block: what was kept near it, and which marks of its ancestors apply.
 */
import type { Block, Page } from '../block/blocks.ts';
import { mark } from './element-marks.ts';
import { isProse, plain } from './prose.ts';

export interface BlockContext {
  readonly blocks: readonly Block[];
  /** Per block the share that Readability kept. */
  readonly kept: readonly number[];
  readonly marks: readonly number[];
  readonly around: readonly Neighbourhood[];
  /** The share of all kept prose that is in the block's own section. */
  readonly sectionShare: readonly number[];
  /** How many levels up the element with most of the kept prose is; at most 4. */
  readonly distance: readonly number[];
  /** The share of all prose on the page that was kept. */
  readonly keptProse: number;
  /** The first and the last kept prose. */
  readonly first: number;
  readonly last: number;
  readonly titles: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number>;
  /** The article text that the page itself declares. */
  readonly declared: string;
}

/** The shares of kept, prose and linked words among those of the six nearest blocks. */
export interface Neighbourhood {
  readonly kept: number;
  readonly prose: number;
  readonly linked: number;
}

export interface Hints {
  readonly titles: readonly string[];
  readonly declared: string;
}

/**
 * An element with more of the kept words is not a margin; with less than that, it is not the main
 * part.
 */
const marginShareMax = 0.4;
const mainShareMin = 0.2;
const praise = mark.article | mark.main | mark.body;
const reach = 3;
const distanceMax = 4;
const declaredCharactersMin = 400;

export function contextOf(page: Page, kept: readonly number[], hints: Hints): BlockContext {
  const { blocks } = page;
  const isKeptProse = (block: Block, index: number) => (kept[index] ?? 0) > 0.5 && isProse(block);
  const declared = plain(hints.declared);
  return {
    blocks,
    kept,
    marks: resolveMarks(page, kept),
    around: blocks.map((_block, index) => neighbourhoodOf(blocks, kept, index)),
    ...measureSections(page, kept),
    first: blocks.findIndex(isKeptProse),
    last: blocks.findLastIndex(isKeptProse),
    titles: new Set(hints.titles.map(plain)),
    counts: countTexts(blocks),
    declared: declared.length > declaredCharactersMin ? declared : '',
  };
}

/** An element with much of the article cannot be its margin, regardless of its name. */
function resolveMarks({ blocks, scopes }: Page, kept: readonly number[]): number[] {
  const marks = blocks.map((block) => block.marks);
  const sums = [0];
  for (const [index, block] of blocks.entries()) {
    sums.push((sums[index] ?? 0) + block.words * (0.02 + (kept[index] ?? 0)));
  }
  const total = sums[blocks.length] ?? 0;
  for (const scope of scopes) {
    const share = ((sums[scope.end] ?? 0) - (sums[scope.start] ?? 0)) / total;
    let bits = scope.marks;
    if (share > marginShareMax) bits &= praise;
    if (share <= mainShareMin) bits &= ~praise;
    for (let index = scope.start; bits !== 0 && index < scope.end; index += 1) {
      marks[index] = (marks[index] ?? 0) | bits;
    }
  }
  return marks;
}

function neighbourhoodOf(
  blocks: readonly Block[],
  kept: readonly number[],
  index: number,
): Neighbourhood {
  const sum = { words: 0, kept: 0, prose: 0, linked: 0 };
  const end = Math.min(blocks.length - 1, index + reach);
  for (let near = Math.max(0, index - reach); near <= end; near += 1) {
    const block = blocks[near];
    if (near === index || block === undefined) continue;
    sum.words += block.words;
    sum.kept += block.words * (kept[near] ?? 0);
    sum.linked += Math.min(block.words, block.linkedWords);
    if (isProse(block)) sum.prose += block.words;
  }
  const words = Math.max(1, sum.words);
  return { kept: sum.kept / words, prose: sum.prose / words, linked: sum.linked / words };
}

function countTexts(blocks: readonly Block[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of blocks) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function measureSections({ blocks, parents }: Page, kept: readonly number[]) {
  const own = parents.map(() => 0);
  let prose = 0;
  let keptProse = 0;
  for (const [index, block] of blocks.entries()) {
    if (!isProse(block)) continue;
    prose += block.words;
    if ((kept[index] ?? 0) <= 0.5) continue;
    own[block.section] = (own[block.section] ?? 0) + block.words;
    keptProse += block.words;
  }
  const distances = measureDistances(parents, own, keptProse);
  return {
    sectionShare: blocks.map((block) => (own[block.section] ?? 0) / Math.max(1, keptProse)),
    distance: blocks.map((block) => distances[block.section] ?? distanceMax),
    keptProse: keptProse / Math.max(1, prose),
  };
}

/** A section comes after its parent, so one upward and one downward pass suffice. */
function measureDistances(
  parents: readonly number[],
  own: readonly number[],
  keptProse: number,
): number[] {
  const inside = [...own];
  for (let index = parents.length - 1; index > 0; index -= 1) {
    const parent = parents[index] ?? 0;
    inside[parent] = (inside[parent] ?? 0) + (inside[index] ?? 0);
  }
  const distances: number[] = [];
  for (const [index, parent] of parents.entries()) {
    const isMain = index === 0 || (inside[index] ?? 0) > 0.6 * keptProse;
    distances.push(isMain ? 0 : Math.min(distanceMax, 1 + (distances[parent] ?? 0)));
  }
  return distances;
}
