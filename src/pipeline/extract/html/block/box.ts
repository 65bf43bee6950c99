/**
 * Boxes next to the text: notes, warnings, tips. Their title does not head the text after the box.
 * If the page marks it as a heading, it gets the level that no section has; if not, the box is a
 * quote, and its title bold.
 */

import type { TreeElement } from '../tree/element.ts';
import { elementFrom } from '../tree/node.ts';
import type { Block } from './blocks.ts';

export const boxTitleLevel = 6;
/** A longer box is a section, regardless of its name. */
const boxWordsMax = 300;
const names = [
  'note|tip|hint|warning|caution|important|attention|danger|error|notice|alert|admonition|callout',
  'seealso|infobox|admonitionblock|custom-block',
  // With a prefix: `markdown-alert`, `theme-admonition`.
  '\\S*[-_](?:admonition|alert|callout)',
].join('|');
const boxName = new RegExp(`(?:^|\\s)(?:${names})(?:\\s|$)`, 'i');
const classCharactersMax = 300;

/** Whether the first of these blocks, which are all of the element's, is the title of a box. */
export function isBoxTitle(blocks: readonly Block[], element: TreeElement, from: number): boolean {
  const title = blocks[from];
  if (title?.kind !== 'heading' || title.level === 1 || !isBox(element)) return false;
  let words = 0;
  for (let index = from + 1; index < blocks.length && words <= boxWordsMax; index += 1) {
    const block = blocks[index] as Block;
    if (block.kind === 'heading') return false;
    words += block.words;
  }
  return words > 0 && words <= boxWordsMax;
}

/** How deep in the first element of a box its title is searched for. */
const titleDepthMax = 5;
const titleName = /(?:^|[\s_-])(?:title|heading)(?:\s|$)/i;

/** Whether an element is a box whose title is named so, but not a heading. */
export function isTitledBox(element: TreeElement): boolean {
  if (!isBox(element)) return false;
  let inner = elementFrom(element.firstChild);
  for (let depth = 0; inner !== null && depth < titleDepthMax; depth += 1) {
    if (/^h[1-6]$/.test(inner.localName)) return false;
    if (isCalledTitle(inner)) return true;
    inner = elementFrom(inner.firstChild);
  }
  return false;
}

export function isCalledTitle(element: TreeElement): boolean {
  return titleName.test((element.getAttribute('class') ?? '').slice(0, classCharactersMax));
}

function isBox(element: TreeElement): boolean {
  if (element.localName === 'aside' || element.getAttribute('role') === 'note') return true;
  const classes = element.getAttribute('class');
  return classes !== null && boxName.test(classes.slice(0, classCharactersMax));
}
