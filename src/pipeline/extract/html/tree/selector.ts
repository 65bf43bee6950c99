/**
 * The few supported kinds of selectors: names, attributes, names with an attribute, and lists of
 * these. Any other throws, so that a new use is noticed.
 */
import type { TreeElement } from './element.ts';
import { nodeAfter, nodeTypes, type TreeNode, type TreeParent } from './node.ts';

export interface Selector {
  /** In capitals, like element names. */
  readonly names: ReadonlySet<string>;
  readonly conditions: readonly Condition[];
}

interface Condition {
  /** Undefined matches any name. */
  readonly name: string | undefined;
  readonly attribute: string;
  /** Undefined matches any value. */
  readonly value: string | undefined;
}

const namePattern = /^[a-z][a-z0-9-]*$/i;
const conditionPattern = /^([a-z][a-z0-9-]*)?\[([a-z:-]+)(?:=(?:"([^"]*)"|([\w-]+)))?\]$/i;

/** HTML compares the values of these case-insensitively. */
const caselessAttributes = new Set(['rel', 'type']);

export function findAll(root: TreeParent, selector: Selector): TreeElement[] {
  const found: TreeElement[] = [];
  for (let node = root.firstChild; node !== null; node = nodeAfter(node, root)) {
    if (isMatch(node, selector)) found.push(node);
  }
  return found;
}

export function findFirst(root: TreeParent, selector: Selector): TreeElement | null {
  for (let node = root.firstChild; node !== null; node = nodeAfter(node, root)) {
    if (isMatch(node, selector)) return node;
  }
  return null;
}

/**
 * Elements that Readability creates have names in capitals, and it does not find those by a
 * lower-case name: the weights of the rules were fitted to that.
 */
export function findByName(root: TreeParent, name: string): TreeElement[] {
  if (!namePattern.test(name)) throw new Error(`no element can be asked for as ${name}`);
  const found: TreeElement[] = [];
  for (let node = root.firstChild; node !== null; node = nodeAfter(node, root)) {
    if (node.nodeType !== nodeTypes.element) continue;
    if (node.localName === name || node.tagName === name) found.push(node);
  }
  return found;
}

export function readSelector(text: string): Selector {
  const names = new Set<string>();
  const conditions: Condition[] = [];
  for (const part of text.split(',')) {
    const trimmed = part.trim();
    if (namePattern.test(trimmed)) names.add(trimmed.toUpperCase());
    else conditions.push(readCondition(trimmed));
  }
  return { names, conditions };
}

function readCondition(text: string): Condition {
  const [, name, attribute, quoted, bare] = conditionPattern.exec(text) ?? [];
  if (attribute === undefined) throw new Error(`the tree knows no selector such as ${text}`);
  return { name: name?.toUpperCase(), attribute, value: quoted ?? bare };
}

function isMatch(node: TreeNode, { names, conditions }: Selector): node is TreeElement {
  if (node.nodeType !== nodeTypes.element) return false;
  if (names.has(node.tagName)) return true;
  return conditions.length > 0 && conditions.some((condition) => holds(node, condition));
}

function holds(element: TreeElement, { name, attribute, value }: Condition): boolean {
  if (name !== undefined && name !== element.tagName) return false;
  const actual = element.getAttribute(attribute);
  if (actual === null || value === undefined) return actual !== null;
  if (!caselessAttributes.has(attribute)) return actual === value;
  return actual.toLowerCase() === value.toLowerCase();
}
