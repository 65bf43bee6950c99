/**
 * Additions of a site to its pages: comments, share buttons, teasers, newsletter forms. They do not
 * count as text, and are dropped if a vote on single blocks is not possible.
 */
import type { Page, Scope } from '../block/blocks.ts';
import { mark, marksOfNames } from './element-marks.ts';

export const clutterMarks: readonly number[] = [
  mark.share,
  mark.related,
  mark.promotion,
  mark.newsletter,
  mark.consent,
  mark.comment,
];

const anyClutter = clutterMarks.reduce((all, bit) => all | bit, 0);
/** An element with more of the text is not clutter, regardless of its name. */
export const clutterShareMax = 0.4;

/** Per block whether it is clutter. `text` is the number of its words that count as text. */
export function findClutter(page: Page, text: readonly number[]): boolean[] {
  const isClutter = text.map(() => false);
  const sums = [0];
  for (const [index, words] of text.entries()) sums.push((sums[index] ?? 0) + words);
  const all = sums[text.length] ?? 0;
  for (const scope of page.scopes) {
    if ((scope.marks & anyClutter) === 0) continue;
    if (isSlugOfHeading(page, scope) && (marksOfNames(scope.element) & anyClutter) === 0) continue;
    const words = (sums[scope.end] ?? 0) - (sums[scope.start] ?? 0);
    if (words <= clutterShareMax * all) isClutter.fill(true, scope.start, scope.end);
  }
  return isClutter;
}

/** A section's id is derived from its heading: a chapter about menus is not a menu. */
export function isSlugOfHeading({ blocks }: Page, { element, start }: Scope): boolean {
  return element.getAttribute('id') !== null && blocks[start]?.kind === 'heading';
}
