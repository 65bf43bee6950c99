/** The share of a page's text that was kept: a low share needs a person's attention. */
import type { Block, Page } from '../block/blocks.ts';
import { findClutter } from './clutter.ts';
import { isProse, linkShare } from './prose.ts';
import type { Reasons } from './region.ts';

const labelWordsMax = 5;

export interface Substance {
  /** Per block of the region, the words that would be missed: no links, labels or clutter. */
  readonly words: readonly number[];
  readonly isClutter: readonly boolean[];
  /** The share of clutter among words that would otherwise be missed. */
  readonly clutterShare: number;
}

export function substanceOf(page: Page, outside: Reasons): Substance {
  const text = page.blocks.map((block, index) =>
    isText(block) && outside[index] === undefined ? block.words : 0,
  );
  const isClutter = findClutter(page, text);
  const words = text.map((own, index) => (isClutter[index] ? 0 : own));
  return { words, isClutter, clutterShare: 1 - sumOf(words) / Math.max(1, sumOf(text)) };
}

export function isText(block: Block): boolean {
  if (block.kind === 'code' || block.kind === 'row') return true;
  const isItem = block.kind === 'item' && block.words > labelWordsMax && linkShare(block) < 0.5;
  return isItem || isProse(block);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Between 0 and 1; a page without such words has lost none. */
export function shareKept({ words }: Substance, reasons: Reasons): number {
  let all = 0;
  let kept = 0;
  for (const [index, own] of words.entries()) {
    all += own;
    if (reasons[index] === undefined) kept += own;
  }
  return all === 0 ? 1 : kept / all;
}
