/**
 * An element, with what Readability and the rules need. The names are those of the DOM, since
 * Readability was written for a browser.
 */
import type { TreeDocument } from './document.ts';
import {
  childrenOf,
  elementBefore,
  elementFrom,
  elementsOf,
  insertNode,
  nodeTypes,
  removeNode,
  replaceNode,
  type TreeNode,
  type TreeParent,
  textIn,
} from './node.ts';
import { findAll, findByName, findFirst } from './selector.ts';
import { markupIn } from './serialize.ts';

export interface TreeAttribute {
  readonly name: string;
  readonly value: string;
  readonly cloneNode: () => TreeAttribute;
}

export interface TreeStyle {
  readonly display: string;
  readonly visibility: string;
}

const unstyled: TreeStyle = { display: '', visibility: '' };

export class TreeElement {
  readonly nodeType = nodeTypes.element;
  readonly ownerDocument: TreeDocument;
  readonly localName: string;
  readonly tagName: string;
  parentNode: TreeParent | null = null;
  previousSibling: TreeNode | null = null;
  nextSibling: TreeNode | null = null;
  firstChild: TreeNode | null = null;
  lastChild: TreeNode | null = null;
  /** Readability stores its score here: declared up front, so that all elements have one shape. */
  readability: unknown = undefined;
  readonly #attributes: Record<string, string>;

  constructor(document: TreeDocument, name: string, attributes: Record<string, string>) {
    this.ownerDocument = document;
    this.localName = name;
    this.tagName = document.names.upperCase(name);
    this.#attributes = attributes;
    if (attributes.class !== undefined) attributes.class = document.names.tidy(attributes.class);
  }

  get nodeName(): string {
    return this.tagName;
  }

  get childNodes(): TreeNode[] {
    return childrenOf(this);
  }

  get children(): TreeElement[] {
    return elementsOf(this);
  }

  get firstElementChild(): TreeElement | null {
    return elementFrom(this.firstChild);
  }

  get nextElementSibling(): TreeElement | null {
    return elementFrom(this.nextSibling);
  }

  get previousElementSibling(): TreeElement | null {
    return elementBefore(this);
  }

  get textContent(): string {
    return textIn(this);
  }

  get innerHTML(): string {
    return markupIn(this);
  }

  set innerHTML(html: string) {
    while (this.firstChild !== null) removeNode(this.firstChild);
    this.ownerDocument.parseInto(this, html);
  }

  get id(): string {
    return this.getAttribute('id') ?? '';
  }

  set id(id: string) {
    this.setAttribute('id', id);
  }

  get className(): string {
    return this.getAttribute('class') ?? '';
  }

  set className(names: string) {
    this.setAttribute('class', names);
  }

  get src(): string {
    return this.getAttribute('src') ?? '';
  }

  get srcset(): string {
    return this.getAttribute('srcset') ?? '';
  }

  get style(): TreeStyle {
    const style = this.getAttribute('style');
    return style === null ? unstyled : readStyle(style);
  }

  get attributes(): TreeAttribute[] {
    return this.getAttributeNames().map((name) => attributeOf(name, this.#attributes[name] ?? ''));
  }

  getAttributeNames(): string[] {
    return Object.keys(this.#attributes);
  }

  /** Only own properties: inherited ones of Object are not attributes. */
  getAttribute(name: string): string | null {
    const value = this.#attributes[name];
    return typeof value === 'string' ? value : null;
  }

  hasAttribute(name: string): boolean {
    return this.getAttribute(name) !== null;
  }

  setAttribute(name: string, value: string): void {
    this.#attributes[name] = name === 'class' ? this.ownerDocument.names.tidy(value) : value;
  }

  setAttributeNode({ name, value }: TreeAttribute): void {
    this.setAttribute(name, value);
  }

  removeAttribute(name: string): void {
    if (this.hasAttribute(name)) delete this.#attributes[name];
  }

  appendChild<Node extends TreeNode>(node: Node): Node {
    insertNode(this, node, null);
    return node;
  }

  replaceChild(node: TreeNode, replaced: TreeNode): TreeNode {
    replaceNode(this, node, replaced);
    return replaced;
  }

  removeChild(node: TreeNode): TreeNode {
    removeNode(node);
    return node;
  }

  remove(): void {
    removeNode(this);
  }

  getElementsByTagName(name: string): TreeElement[] {
    return findByName(this, name);
  }

  querySelector(selector: string): TreeElement | null {
    return findFirst(this, this.ownerDocument.names.selector(selector));
  }

  querySelectorAll(selector: string): TreeElement[] {
    return findAll(this, this.ownerDocument.names.selector(selector));
  }
}

/** An attribute is immutable, so it is its own copy. */
function attributeOf(name: string, value: string): TreeAttribute {
  const attribute: TreeAttribute = { name, value, cloneNode: () => attribute };
  return attribute;
}

/** The last rule wins. Names and values are used as written. */
function readStyle(style: string): TreeStyle {
  const found = { display: '', visibility: '' };
  for (const rule of style.split(';')) {
    const colon = rule.indexOf(':');
    const name = rule.slice(0, Math.max(0, colon)).trim();
    const value = rule.slice(colon + 1).trim();
    if ((name === 'display' || name === 'visibility') && value !== '') found[name] = value;
  }
  return found;
}
