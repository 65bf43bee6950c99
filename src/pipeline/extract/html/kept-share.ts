/** How much of a page's text was kept: a low share says that somebody should look. */
import type { Block, Page } from './blocks.ts';
import { mark } from './marks.ts';
import { isProse, linkShare } from './prose.ts';
import type { Reasons } from './region.ts';

const clutter =
  mark.comment | mark.share | mark.related | mark.promotion | mark.newsletter | mark.consent;
/** An element with more of the text than this is no clutter, whatever it is called. */
const clutterShareMax = 0.4;
const labelWordsMax = 5;

/** Of each block of the region the words that would be missed: no links, labels or clutter. */
export function substanceOf({ blocks, scopes }: Page, outside: Reasons): number[] {
  const substance = blocks.map((block, index) =>
    isText(block) && outside[index] === undefined ? block.words : 0,
  );
  const all = sumOf(substance, 0, substance.length);
  for (const { marks, start, end } of scopes) {
    if ((marks & clutter) === 0) continue;
    if (sumOf(substance, start, end) <= clutterShareMax * all) substance.fill(0, start, end);
  }
  return substance;
}

export function isText(block: Block): boolean {
  if (block.kind === 'code' || block.kind === 'row') return true;
  const isItem = block.kind === 'item' && block.words > labelWordsMax && linkShare(block) < 0.5;
  return isItem || isProse(block);
}

function sumOf(values: readonly number[], start: number, end: number): number {
  let sum = 0;
  for (let index = start; index < end; index += 1) sum += values[index] ?? 0;
  return sum;
}

/** Between 0 and 1; a page without such words has lost none. */
export function shareKept(substance: readonly number[], reasons: Reasons): number {
  const all = sumOf(substance, 0, substance.length);
  if (all === 0) return 1;
  const kept = substance.reduce(
    (sum, words, at) => sum + (reasons[at] === undefined ? words : 0),
    0,
  );
  return kept / all;
}
