/**
 * Blocks within one block: a listing whose lines are separate elements, and a heading laid out with
 * several. To a reader each is one.
 */
import type { TreeElement } from '../tree/element.ts';
import { elementFrom, isElement, isText } from '../tree/node.ts';

const listing =
  /(?:^|[\s_-])(?:fragment|highlight|code|codehilite|source|sourcecode|listing)(?:[\s_-]|$)/i;
const line = /(?:^|\s)(?:code-?)?line(?:\s|$)/i;
const lineNumber = /(?:^|\s)(?:line-?no|line-?nos|line-?numbers?|ln)(?:\s|$)/i;
/** Lines may be in foldable elements. */
const foldsMax = 3;
/** Longer content is a page inside an unclosed heading. */
const headingCharactersMax = 400;
const headingDepthMax = 8;

/** Whether an element is named like a listing, and its first child like a line. */
export function isListing(element: TreeElement): boolean {
  if (element.localName !== 'div' || !listing.test(classOf(element))) return false;
  let inner = elementFrom(element.firstChild);
  for (let depth = 0; inner?.localName === 'div' && depth < foldsMax; depth += 1) {
    if (line.test(classOf(inner))) return true;
    inner = elementFrom(inner.firstChild);
  }
  return false;
}

export function isLineNumber(element: TreeElement): boolean {
  return lineNumber.test(classOf(element));
}

/** Whether all content of a heading can be its words. */
export function isOneHeading(heading: TreeElement): boolean {
  return measure(heading, headingCharactersMax, headingDepthMax) >= 0;
}

/** How many of the remaining characters an element leaves; negative if it needs more. */
function measure(element: TreeElement, left: number, depth: number): number {
  if (depth === 0) return -1;
  let rest = left;
  for (let child = element.firstChild; child !== null && rest >= 0; child = child.nextSibling) {
    if (isText(child)) rest -= child.data.trim().length;
    else if (isElement(child)) rest = measure(child, rest, depth - 1);
  }
  return rest;
}

function classOf(element: TreeElement): string {
  return (element.getAttribute('class') ?? '').slice(0, 300);
}
