/** The little of the DOM that extraction reads, so that no parser's own types spread. */
export interface DomNode {
  readonly nodeType: number;
  readonly firstChild: DomNode | null;
  readonly nextSibling: DomNode | null;
  readonly parentNode: DomNode | null;
}

export interface DomText extends DomNode {
  readonly data: string;
}

export interface DomElement extends DomNode {
  readonly localName: string;
  readonly textContent: string;
  getAttribute(name: string): string | null;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  remove(): void;
}

export interface DomDocument {
  readonly documentElement: DomElement | null;
  readonly body: DomElement | null;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
}

const elementNode = 1;
const textNode = 3;

export function isElement(node: DomNode): node is DomElement {
  return node.nodeType === elementNode;
}

export function isText(node: DomNode): node is DomText {
  return node.nodeType === textNode;
}
