/**
 * Anchor links, such as the pilcrow after a heading or `[edit]`. They are not words of the page.
 */

import type { TreeElement } from '../tree/element.ts';
import { isElement, isText } from '../tree/node.ts';
import type { BlockKind } from './blocks.ts';

const signCharactersMax = 60;
const word = /[\p{L}\p{N}]/u;
const namedSign = /^(?:perma(?:nent )?link|(?:direct )?link to this|anchor$|copy link)/i;
/** In any language: brackets in a heading that contain only links. */
const bracketed = /^\[[^[\]]*\]$/;

export function isAnchorSign(element: TreeElement, isHeading: boolean): boolean {
  const isLink = element.localName === 'a';
  if (!isLink && !isHeading) return false;
  const text = startOf(element);
  if (text.length > signCharactersMax) return false;
  const shown = text.replace(/\s+/g, ' ').trim();
  if (isLink && isInPage(element)) {
    if (!word.test(shown)) return true;
    if (isHeading && namedSign.test(shown)) return true;
  }
  return isHeading && bracketed.test(shown) && isLinked(element);
}

/** A heading that links to its entry in the table of contents stays a heading. */
export function leadsAway(link: TreeElement, kind: BlockKind): boolean {
  if (link.getAttribute('href') === null) return false;
  return kind !== 'heading' || !isInPage(link);
}

/** Reads only enough to see that it is too long: elements nest, and texts are large. */
function startOf(element: TreeElement): string {
  let text = '';
  for (let child = element.firstChild; child !== null; child = child.nextSibling) {
    if (text.length > signCharactersMax) break;
    if (isText(child)) text += child.data.slice(0, signCharactersMax + 1);
    else if (isElement(child)) text += startOf(child);
  }
  return text;
}

function isInPage(link: TreeElement): boolean {
  return link.getAttribute('href')?.startsWith('#') === true;
}

function isLinked(element: TreeElement): boolean {
  const links = element.getElementsByTagName('a');
  return links.length > 0 && links.some((link) => word.test(link.textContent));
}
