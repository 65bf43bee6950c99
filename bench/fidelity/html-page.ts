/**
 * The truth of an HTML page: its words, headings and table rows without navigation. Independent of
 * the extractor, with a parser but none of its rules, so that the two cannot share a mistake.
 *
 * Navigation is what the page itself declares as such: by tag, by role, or by a class or an id that
 * names it. The rest of the main element, or of the body if there is none, is content.
 */
import { parseDocument } from 'htmlparser2';
import { type Readable, rowOf, wordsOf } from './meter.ts';

/** As the parser returns it, without its classes. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
  readonly parent?: Node | null;
}

type Test = (node: Node) => boolean;

export interface HtmlPage extends Readable {
  /** How many of the words are within links. */
  readonly wordsLinked: number;
}

/** `all` keeps navigation: for files made of the whole page. */
export function readHtmlPage(html: string, keep: 'content' | 'all' = 'content'): HtmlPage {
  const tree = parseDocument(html) as unknown as Node;
  const body = findAll(tree, isUnseen, isNamed('body'))[0] ?? tree;
  const isMain: Test = (node) => node.name === 'main' || node.attribs?.role === 'main';
  const main = keep === 'all' ? undefined : findAll(body, isUnseen, isMain)[0];
  const root = main ?? body;
  const isOut = keep === 'all' ? isUnseen : navigationOf(root, main !== undefined);
  const headings = findAll(root, isOut, isNamed('h1', 'h2', 'h3', 'h4'));
  const headingText = (node: Node) => wordsOf(textOf(node, isOut)).join(' ');
  // If there are several, they are chapters, and the page's title is unknown.
  const [first, ...others] = headings.filter(isNamed('h1'));
  return {
    words: wordsOf(textOf(root, isOut)),
    headings: headings.map(headingText).filter((heading) => heading !== ''),
    rows: findAll(root, isOut, isNamed('table')).flatMap((table) => rowsOf(table, isOut)),
    title: first === undefined || others.length > 0 ? undefined : headingText(first),
    wordsLinked: linkedWords(root, isOut),
  };
}

const isNamed =
  (...names: readonly string[]): Test =>
  ({ name }) =>
    name !== undefined && names.includes(name);

const isHeading = isNamed('h1', 'h2', 'h3', 'h4', 'h5', 'h6');

/** In document order; excluded nodes are not searched. */
function findAll(root: Node, isOut: Test, isWanted: Test): Node[] {
  const found: Node[] = [];
  const visit = (node: Node): void => {
    for (const child of node.children ?? []) {
      if (isOut(child)) continue;
      if (isWanted(child)) found.push(child);
      visit(child);
    }
  };
  visit(root);
  return found;
}

/** Inline elements do not end a word; all others do. */
const inline = new Set(
  (
    'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp ' +
    'small span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

function textOf(root: Node, isOut: Test): string {
  const pieces: string[] = [];
  const visit = (node: Node): void => {
    if (node.type === 'text') pieces.push(node.data ?? '');
    const edge = node.name === undefined || inline.has(node.name) ? '' : ' ';
    pieces.push(edge);
    for (const child of node.children ?? []) if (!isOut(child)) visit(child);
    pieces.push(edge);
  };
  visit(root);
  return pieces.join('');
}

/** Rows of a data table: nested tables, and tables of one column, are layout. */
function rowsOf(table: Node, isOut: Test): string[] {
  if (table.attribs?.role === 'presentation') return [];
  if (findAll(table, isOut, isNamed('table')).length > 0) return [];
  const rows = findAll(table, isOut, isNamed('tr')).map((row) =>
    rowOf(findAll(row, isOut, isNamed('td', 'th')).map((cell) => textOf(cell, isOut))),
  );
  const isWide = rows.filter((row) => row.includes(' | ')).length > rows.length / 2;
  return rows.length > 1 && isWide ? rows.filter((row) => row !== '') : [];
}

const unseenTags = new Set(
  (
    'head script style noscript template svg iframe object button select input textarea dialog ' +
    'option datalist'
  ).split(' '),
);

function isUnseen({ type, name = '', attribs = {} }: Node): boolean {
  if (type === 'comment' || type === 'directive' || type === 'cdata') return true;
  if (unseenTags.has(name) || attribs.hidden !== undefined) return true;
  return attribs['aria-hidden'] === 'true' || /display\s*:\s*none/i.test(attribs.style ?? '');
}

const navigationTags = new Set(['nav', 'footer', 'form']);
const navigationRoles = new Set([
  'navigation',
  'banner',
  'contentinfo',
  'search',
  'menu',
  'menubar',
]);
/** Around the main element they belong to the site, inside it to the text. */
const marginTags = new Set(['header', 'aside']);
const word = (names: string) => new RegExp(`(?:^|[\\s_-])(?:${names})(?:[\\s_-]|$)`, 'i');
const navigationName = word(
  '[a-z]*nav(?:bar|header|footer|igation|links?)?|breadcrumbs?|(?:page|site)-header|footer|toc|' +
    'pager|pagination|legal-?copy',
);
/** In a heading, names describe the target of its link; only these are not part of the text. */
const signName = word('headerlink|permalink|skip(?:-?link)?');
/** Also names of boxes in the text: navigation if at least half of their words are links. */
const boxName = word('(?:sphinx)?sidebar|header|menu|related');

/** Whether a node inside `root` is excluded. Each is judged once. */
function navigationOf(root: Node, isMain: boolean): Test {
  const known = new Map<Node, boolean>();
  const half = wordsOf(textOf(root, isUnseen)).length / 2;
  const judge = (node: Node): boolean => {
    if (isUnseen(node)) return true;
    const { name = '', attribs = {} } = node;
    if (navigationTags.has(name) || navigationRoles.has(attribs.role ?? '')) return true;
    if (hasName(node, signName)) return true;
    if (node.parent && isHeading(node.parent)) return false;
    const isMargin = !isMain && (marginTags.has(name) || attribs.role === 'complementary');
    const isBox = hasName(node, boxName);
    if (!isMargin && !isBox && !hasName(node, navigationName)) return false;
    // Half of a page, or its heading, is never navigation, regardless of its name.
    const words = wordsOf(textOf(node, isUnseen)).length;
    if (words >= half || hasAny(node, isNamed('h1'))) return false;
    return !isBox || 2 * linkedWords(node) >= words;
  };
  return (node) => {
    const judged = known.get(node) ?? judge(node);
    known.set(node, judged);
    return judged;
  };
}

/** The id of a section is derived from its heading: a chapter about menus is not a menu. */
function hasName(node: Node, name: RegExp): boolean {
  const { class: classes = '', id = '' } = node.attribs ?? {};
  if (name.test(classes)) return true;
  return name.test(id) && !isHeading(node) && !hasAny(node, isHeading);
}

function hasAny(node: Node, isWanted: Test): boolean {
  return findAll(node, isUnseen, isWanted).length > 0;
}

function linkedWords(root: Node, isOut: Test = isUnseen): number {
  const isLink: Test = ({ name, attribs }) => name === 'a' && attribs?.href !== undefined;
  const links = findAll(root, isOut, isLink);
  return links.reduce((sum, link) => sum + wordsOf(textOf(link, isOut)).length, 0);
}
