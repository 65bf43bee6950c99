/** The markup of a tree: parsing it gives the same tree. */
import type { TreeElement } from './element.ts';
import type { TreeLeaf } from './leaf.ts';
import { nodeTypes, type TreeNode, type TreeParent } from './node.ts';

const voidTags = new Set(
  'AREA BASE BR COL EMBED HR IMG INPUT KEYGEN LINK META PARAM SOURCE TRACK WBR'.split(' '),
);
/** Inside these, nothing is an entity. */
const rawTags = new Set(['SCRIPT', 'STYLE', 'TEXTAREA']);

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\u00a0': '&#160;',
};

export function markupIn(parent: TreeParent): string {
  let markup = '';
  for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
    markup += markupOf(child);
  }
  return markup;
}

function markupOf(node: TreeNode): string {
  return node.nodeType === nodeTypes.element ? elementMarkup(node) : leafMarkup(node);
}

function leafMarkup({ nodeType, data }: TreeLeaf): string {
  if (nodeType === nodeTypes.comment) return `<!--${data}-->`;
  return /[&<>\u00a0]/.test(data)
    ? data.replace(/[&<>\u00a0]/g, (character) => entities[character] ?? character)
    : data;
}

function elementMarkup(element: TreeElement): string {
  const { localName: name, tagName } = element;
  let tag = `<${name}`;
  for (const key of element.getAttributeNames()) {
    tag += ` ${key}="${valueMarkup(element.getAttribute(key) ?? '')}"`;
  }
  if (voidTags.has(tagName)) return `${tag}>`;
  const inside = rawTags.has(tagName) ? element.textContent : markupIn(element);
  return `${tag}>${inside}</${name}>`;
}

function valueMarkup(value: string): string {
  if (!/["&]/.test(value)) return value;
  return value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
