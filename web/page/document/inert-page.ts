/**
 * A fetched web page without anything that runs or loads: parsed into a document that has no
 * window, reduced to a list of elements and attributes, and written again. The frame that shows it
 * is a sandbox as well, and its policy allows no address.
 */

const kept = new Set([
  ...['html', 'head', 'title', 'body', 'main', 'article', 'section', 'header', 'footer', 'nav'],
  ...['aside', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'span', 'br', 'hr', 'pre', 'code'],
  ...['blockquote', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'table', 'caption', 'thead', 'tbody'],
  ...['tfoot', 'tr', 'th', 'td', 'em', 'strong', 'b', 'i', 'u', 's', 'sub', 'sup', 'small', 'mark'],
  ...['abbr', 'cite', 'q', 'time', 'figure', 'figcaption', 'details', 'summary', 'a', 'kbd', 'var'],
]);

/** Their content is not text of the page. */
const dropped = new Set([
  ...['script', 'style', 'noscript', 'template', 'iframe', 'frame', 'object', 'embed', 'svg'],
  ...['math', 'canvas', 'link', 'meta', 'base', 'audio', 'video', 'select', 'textarea'],
]);

const attributes = ['lang', 'dir', 'colspan', 'rowspan', 'start', 'open'];

export function inertPage(html: string): string {
  const { documentElement } = new DOMParser().parseFromString(quiet(html), 'text/html');
  const page = document.implementation.createHTMLDocument('');
  const clean = copyOf(documentElement, page);
  return clean instanceof Element ? `<!doctype html>${clean.outerHTML}` : '';
}

/**
 * The policy of the page reports handlers and styles even of a document that applies none. They are
 * renamed before they are parsed; what is shown does not depend on it.
 */
function quiet(html: string): string {
  return html.replace(/<[a-z][^>]*>/gi, (tag) =>
    tag.replace(/([\s"'/])(on\w+|style)(?=\s*=)/gi, '$1data-$2'),
  );
}

function copyOf(node: Node, page: Document): Node | undefined {
  if (node.nodeType === Node.TEXT_NODE) return page.createTextNode(node.nodeValue ?? '');
  if (!(node instanceof Element)) return undefined;
  const name = node.localName;
  if (dropped.has(name)) return undefined;
  if (name === 'img') return page.createTextNode(node.getAttribute('alt') ?? '');
  const copy = page.createElement(kept.has(name) ? name : 'span');
  for (const attribute of attributes) {
    const value = node.getAttribute(attribute);
    if (value !== null) copy.setAttribute(attribute, value);
  }
  for (const child of node.childNodes) {
    const inside = copyOf(child, page);
    if (inside) copy.append(inside);
  }
  return copy;
}
