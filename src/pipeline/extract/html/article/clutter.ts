/**
 * What a site adds to its pages: comments, share buttons, teasers, forms for newsletters. Nobody
 * would miss it, so it counts as no text, and goes where no vote on single blocks was possible.
 */
import type { Page, Scope } from '../block/blocks.ts';
import { mark, marksOfNames } from './marks.ts';

export const clutterMarks: readonly number[] = [
  mark.share,
  mark.related,
  mark.promotion,
  mark.newsletter,
  mark.consent,
  mark.comment,
];

const anyClutter = clutterMarks.reduce((all, bit) => all | bit, 0);
/** What holds more of the text than this is no clutter, whatever it is called. */
export const clutterShareMax = 0.4;

/** Of each block whether it is clutter. `text` is how many words of it count as text. */
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

/** A section's id is made of its heading: of a chapter on menus it does not say that it is one. */
export function isSlugOfHeading({ blocks }: Page, { element, start }: Scope): boolean {
  return element.getAttribute('id') !== null && blocks[start]?.kind === 'heading';
}
