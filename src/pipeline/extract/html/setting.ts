/** What surrounds each block: what was kept near it, and which marks of its ancestors count. */
import type { Block, Page } from './blocks.ts';
import { isProse, plain } from './evidence.ts';
import { mark } from './marks.ts';

export interface Setting {
  readonly blocks: readonly Block[];
  /** Of each block the share that Readability kept. */
  readonly kept: readonly number[];
  readonly marks: readonly number[];
  /** Of the words of up to seven blocks around, the share that was kept; that is prose. */
  readonly around: readonly number[];
  readonly proseAround: readonly number[];
  /** The first and the last prose that was kept. */
  readonly first: number;
  readonly last: number;
  readonly titles: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number>;
  /** The text that the page itself declares as the article's. */
  readonly declared: string;
}

export interface Hints {
  readonly titles: readonly string[];
  readonly declared: string;
}

const marginShareMax = 0.4;
const praise = mark.article | mark.main | mark.body;

export function settle(page: Page, kept: readonly number[], hints: Hints): Setting {
  const { blocks } = page;
  const isKeptProse = (block: Block, index: number) => (kept[index] ?? 0) > 0.5 && isProse(block);
  const declared = plain(hints.declared);
  return {
    blocks,
    kept,
    marks: resolveMarks(page, kept),
    ...neighbourhood(blocks, kept),
    first: blocks.findIndex(isKeptProse),
    last: blocks.findLastIndex(isKeptProse),
    titles: new Set(hints.titles.map(plain)),
    counts: countTexts(blocks),
    declared: declared.length > 400 ? declared : '',
  };
}

/** An element that holds much of the article cannot be its margin, whatever it is called. */
function resolveMarks({ blocks, scopes }: Page, kept: readonly number[]): number[] {
  const marks = blocks.map((block) => block.marks);
  const sums = [0];
  for (const [index, block] of blocks.entries()) {
    sums.push((sums[index] ?? 0) + block.words * (0.02 + (kept[index] ?? 0)));
  }
  const total = sums[blocks.length] ?? 0;
  for (const scope of scopes) {
    const share = ((sums[scope.end] ?? 0) - (sums[scope.start] ?? 0)) / total;
    const bits = share > marginShareMax ? scope.marks & praise : scope.marks & (share > 0.2 ? -1 : ~praise);
    if (bits === 0) continue;
    for (let index = scope.start; index < scope.end; index += 1) marks[index] = (marks[index] ?? 0) | bits;
  }
  return marks;
}

function neighbourhood(blocks: readonly Block[], kept: readonly number[]) {
  const around: number[] = [];
  const proseAround: number[] = [];
  for (let index = 0; index < blocks.length; index += 1) {
    let words = 0;
    let keptWords = 0;
    let proseWords = 0;
    for (let near = Math.max(0, index - 3); near <= Math.min(blocks.length - 1, index + 3); near += 1) {
      const block = blocks[near];
      if (near === index || block === undefined) continue;
      words += block.words;
      keptWords += block.words * (kept[near] ?? 0);
      if (isProse(block)) proseWords += block.words;
    }
    around.push(words === 0 ? 0 : keptWords / words);
    proseAround.push(words === 0 ? 0 : proseWords / words);
  }
  return { around, proseAround };
}

function countTexts(blocks: readonly Block[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of blocks) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
