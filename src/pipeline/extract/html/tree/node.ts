/**
 * The links between the nodes of a page. Each has its parent and siblings, and a parent its first
 * and last child, so that moving a node takes constant time.
 */
import type { TreeDocument } from './document.ts';
import type { TreeElement } from './element.ts';
import type { TreeLeaf } from './leaf.ts';

export type TreeNode = TreeElement | TreeLeaf;
export type TreeParent = TreeElement | TreeDocument;

export const nodeTypes = { element: 1, text: 3, comment: 8, document: 9 } as const;

export function isElement(node: TreeNode): node is TreeElement {
  return node.nodeType === nodeTypes.element;
}

export function isText(node: TreeNode): node is TreeLeaf {
  return node.nodeType === nodeTypes.text;
}

/** Before `next`, or at the end. A node that is elsewhere is removed from there. */
export function insertNode(parent: TreeParent, node: TreeNode, next: TreeNode | null): void {
  if (node.parentNode !== null) removeNode(node);
  const previous = next === null ? parent.lastChild : next.previousSibling;
  node.parentNode = parent;
  node.previousSibling = previous;
  node.nextSibling = next;
  if (previous === null) parent.firstChild = node;
  else previous.nextSibling = node;
  if (next === null) parent.lastChild = node;
  else next.previousSibling = node;
}

export function removeNode(node: TreeNode): void {
  const { parentNode, previousSibling, nextSibling } = node;
  if (parentNode === null) return;
  if (previousSibling === null) parentNode.firstChild = nextSibling;
  else previousSibling.nextSibling = nextSibling;
  if (nextSibling === null) parentNode.lastChild = previousSibling;
  else nextSibling.previousSibling = previousSibling;
  node.parentNode = null;
  node.previousSibling = null;
  node.nextSibling = null;
}

/** The new node may be the next sibling of the old one: then it stays in place. */
export function replaceNode(parent: TreeParent, node: TreeNode, replaced: TreeNode): void {
  const next = replaced.nextSibling;
  removeNode(replaced);
  if (node !== next) insertNode(parent, node, next);
}

/** The next node in document order, as long as it is inside `root`. */
export function nodeAfter(node: TreeNode, root: TreeParent): TreeNode | null {
  if (node.firstChild !== null) return node.firstChild;
  let place: TreeNode = node;
  while (place.nextSibling === null) {
    const parent = place.parentNode;
    if (parent === root || parent === null || parent.nodeType === nodeTypes.document) return null;
    place = parent;
  }
  return place.nextSibling;
}

export function childrenOf(parent: TreeParent): TreeNode[] {
  const children: TreeNode[] = [];
  for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
    children.push(child);
  }
  return children;
}

export function elementsOf(parent: TreeParent): TreeElement[] {
  const elements: TreeElement[] = [];
  for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
    if (child.nodeType === nodeTypes.element) elements.push(child);
  }
  return elements;
}

export function elementFrom(node: TreeNode | null): TreeElement | null {
  let place = node;
  while (place !== null && place.nodeType !== nodeTypes.element) place = place.nextSibling;
  return place;
}

export function elementBefore(node: TreeNode): TreeElement | null {
  let place = node.previousSibling;
  while (place !== null && place.nodeType !== nodeTypes.element) place = place.previousSibling;
  return place;
}

export function textIn(parent: TreeParent): string {
  let text = '';
  for (let node = parent.firstChild; node !== null; node = nodeAfter(node, parent)) {
    if (node.nodeType === nodeTypes.text) text += node.data;
  }
  return text;
}
