/** A page as a tree. htmlparser2 parses the markup: implied end tags and entities. */
import { Parser } from 'htmlparser2';
import { TreeElement } from './element.ts';
import { TreeLeaf } from './leaf.ts';
import { TreeNames } from './names.ts';
import {
  elementFrom,
  insertNode,
  nodeTypes,
  removeNode,
  replaceNode,
  type TreeNode,
  type TreeParent,
} from './node.ts';
import { findAll, findByName, findFirst } from './selector.ts';

/** The base of links; the result is not used, so any valid address will do. */
const address = 'http://page.invalid/';

export class TreeDocument {
  readonly nodeType = nodeTypes.document;
  readonly parentNode = null;
  readonly nextElementSibling = null;
  readonly baseURI = address;
  readonly documentURI = address;
  firstChild: TreeNode | null = null;
  lastChild: TreeNode | null = null;
  readonly names = new TreeNames();

  get documentElement(): TreeElement | null {
    return elementFrom(this.firstChild);
  }

  /** The first element of the page. If a page has none, an empty one is added. */
  get head(): TreeElement | null {
    const root = this.documentElement;
    if (root === null) return null;
    const first = root.firstElementChild;
    return first?.tagName === 'HEAD' ? first : this.#add('head', root, root.firstChild);
  }

  /** The element after the head. If it is another element, an empty body is inserted before it. */
  get body(): TreeElement | null {
    const { documentElement: root, head } = this;
    if (root === null || head === null) return null;
    const next = head.nextElementSibling;
    return next?.tagName === 'BODY' ? next : this.#add('body', root, head.nextSibling);
  }

  get title(): string {
    return this.head?.querySelector('title')?.textContent ?? '';
  }

  createElement(name: string): TreeElement {
    return new TreeElement(this, name, {});
  }

  createTextNode(text: string): TreeLeaf {
    return new TreeLeaf(nodeTypes.text, text);
  }

  getElementsByTagName(name: string): TreeElement[] {
    return findByName(this, name);
  }

  querySelector(selector: string): TreeElement | null {
    return findFirst(this, this.names.selector(selector));
  }

  querySelectorAll(selector: string): TreeElement[] {
    return findAll(this, this.names.selector(selector));
  }

  replaceChild(node: TreeNode, replaced: TreeNode): TreeNode {
    replaceNode(this, node, replaced);
    return replaced;
  }

  removeChild(node: TreeNode): TreeNode {
    removeNode(node);
    return node;
  }

  parseInto(parent: TreeParent, html: string): void {
    let place: TreeParent = parent;
    const add = (node: TreeNode) => insertNode(place, node, null);
    const parser = new Parser({
      onopentag: (name, attributes) => {
        const element = new TreeElement(this, name, attributes);
        add(element);
        place = element;
      },
      onclosetag: () => {
        if (place !== parent) place = place.parentNode ?? parent;
      },
      ontext: (text) => add(new TreeLeaf(nodeTypes.text, text)),
      oncomment: (text) => add(new TreeLeaf(nodeTypes.comment, text)),
    });
    parser.end(html);
  }

  #add(name: string, root: TreeElement, next: TreeNode | null): TreeElement {
    const element = this.createElement(name);
    insertNode(root, element, next);
    return element;
  }
}

export function parseTree(html: string): TreeDocument {
  const document = new TreeDocument();
  document.parseInto(document, html);
  return document;
}
