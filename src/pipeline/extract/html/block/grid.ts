/**
 * Whether a table contains data or lays out a page. Many generators wrap every cell in a paragraph,
 * so blocks in cells alone do not make a layout: long cells and a single column do.
 */
import type { TreeElement } from '../tree/element.ts';
import { isElement, isText } from '../tree/node.ts';

/** Their structure does not fit into a row. */
const layoutTags = new Set('table h1 h2 h3 h4 blockquote pre form'.split(' '));
const blockTags = new Set('p div ul ol'.split(' '));
/** About a hundred words: anything longer is a text, not a value. */
const cellCharactersMax = 600;

interface Seen {
  rows: number;
  /** Rows of at least two cells with text. */
  wideRows: number;
  hasBlocks: boolean;
  longestCell: number;
  cells: number;
  characters: number;
}

export function isGrid(table: TreeElement): boolean {
  const seen: Seen = {
    rows: 0,
    wideRows: 0,
    hasBlocks: false,
    longestCell: 0,
    cells: 0,
    characters: 0,
  };
  if (!visit(table, seen) || seen.rows < 2) return false;
  const isNarrow = 2 * seen.wideRows <= seen.rows;
  return !seen.hasBlocks || (!isNarrow && seen.longestCell <= cellCharactersMax);
}

/** False as soon as the table is known to be a layout. */
function visit(element: TreeElement, seen: Seen): boolean {
  for (let child = element.firstChild; child !== null; child = child.nextSibling) {
    if (isText(child)) seen.characters += child.data.trim().length;
    if (!isElement(child)) continue;
    const name = child.localName;
    if (layoutTags.has(name)) return false;
    if (blockTags.has(name)) seen.hasBlocks = true;
    const isCell = name === 'td' || name === 'th';
    if (name === 'tr') seen.cells = 0;
    if (isCell) seen.characters = 0;
    if (!visit(child, seen)) return false;
    if (isCell) endCell(seen);
    if (name === 'tr') endRow(seen);
  }
  return true;
}

function endCell(seen: Seen): void {
  if (seen.characters > 0) seen.cells += 1;
  seen.longestCell = Math.max(seen.longestCell, seen.characters);
}

function endRow(seen: Seen): void {
  seen.rows += 1;
  if (seen.cells > 1) seen.wideRows += 1;
}
