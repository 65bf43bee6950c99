/**
 * A page as a flat list of blocks: paragraphs, headings, list items, table rows, code. Each has
 * what the rules need: how many of its words are links, and the marks of its ancestors. Containers
 * that may hold the main text are ranges of that list.
 */

import { mark, marksOf } from '../article/element-marks.ts';
import type { TreeElement } from '../tree/element.ts';
import type { TreeLeaf } from '../tree/leaf.ts';
import { isElement, isText, type TreeNode } from '../tree/node.ts';
import { isAnchorSign, leadsAway } from './anchor.ts';
import { boxTitleLevel, isBoxTitle, isCalledTitle, isTitledBox } from './box.ts';
import { isGrid } from './grid.ts';
import { isLineNumber, isListing, isOneHeading } from './lines.ts';

export type BlockKind = 'paragraph' | 'heading' | 'item' | 'code' | 'row';

export interface Block {
  readonly kind: BlockKind;
  /** 1 to 6 for a heading; the nesting depth for a list item. */
  readonly level: number;
  readonly marker: string;
  readonly quote: number;
  /** The title of a box, which is not a heading. */
  readonly isTitle: boolean;
  readonly language: string;
  /** Shared by the rows of one table. */
  readonly table: number;
  readonly cells: readonly string[];
  readonly text: string;
  readonly words: number;
  readonly linkedWords: number;
  /** Marks of inline elements with nearly all of the block. */
  readonly marks: number;
  readonly runs: readonly Run[];
  /** Shared by blocks in the same element. */
  readonly section: number;
}

/** Text without tags in between. A parser may split it into several nodes. */
export interface Run {
  readonly node: TreeLeaf;
  readonly text: string;
}

/** An element with marks for the blocks from `start` up to, not including, `end`. */
export interface Scope {
  readonly element: TreeElement;
  readonly marks: number;
  readonly start: number;
  readonly end: number;
}

export interface Page {
  readonly blocks: readonly Block[];
  readonly scopes: readonly Scope[];
  /** The parent of each section; the outermost is its own parent. */
  readonly parents: readonly number[];
}

const dropped = new Set(
  `script style noscript template svg iframe object embed canvas video audio select button input
   textarea title link meta base math map progress meter datalist`.split(/\s+/),
);

const inline = new Set(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr
   picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr`.split(
    /\s+/,
  ),
);

/** Except a single blank, so that nothing is replaced by itself. */
const blanks = /\s{2,}|[^\S ]/g;
const blanksInLine = /[^\S\n]{2,}|[^\S \n]/g;

const sectionTags = new Set('body div section article main td aside header footer form'.split(' '));

/** The counter of an ordered list; other lists have none. */
interface List {
  place: number | undefined;
}

/** A note or a warning: the first element in it that is named title is its title. */
interface Box {
  isTitled: boolean;
}

interface Context {
  readonly kind: BlockKind;
  readonly level: number;
  readonly quote: number;
  readonly box: Box | undefined;
  readonly isTitle: boolean;
  readonly isCode: boolean;
  /** Blocks inside are parts of this one: the lines of a listing, the pieces of a heading. */
  readonly isOne: boolean;
  readonly language: string;
  readonly listDepth: number;
  readonly list: List;
  readonly table: number;
  readonly section: number;
}

const start: Context = {
  kind: 'paragraph',
  level: 0,
  quote: 0,
  box: undefined,
  isTitle: false,
  isCode: false,
  isOne: false,
  language: '',
  listDepth: 0,
  list: { place: undefined },
  table: 0,
  section: 0,
};

export function readPage(root: TreeElement): Page {
  const reader = new BlockReader();
  reader.read(root, start);
  reader.flush(start);
  return { blocks: reader.blocks, scopes: reader.scopes, parents: reader.parents };
}

class BlockReader {
  readonly blocks: Block[] = [];
  readonly scopes: Scope[] = [];
  readonly parents: number[] = [0];
  readonly #seen = new Map<string, number>();
  #parts: string[] = [];
  #linked: string[] = [];
  #runs: Run[] = [];
  #marked = { marks: 0, length: 0 };
  #cells: string[] = [];
  #cellStart = 0;
  #marker = '';
  #tables = 0;
  #linkDepth = 0;
  #breaks = 0;

  read(parent: TreeElement, context: Context): void {
    let child = parent.firstChild;
    while (child !== null) {
      if (isText(child)) {
        const run = runFrom(child);
        this.#readRun(run, context);
        child = run.next;
        continue;
      }
      if (isElement(child)) this.#readElement(child, context);
      child = child.nextSibling;
    }
  }

  #readRun(run: Run, context: Context): void {
    this.#parts.push(context.isCode ? run.text : run.text.replace(blanks, ' '));
    if (this.#linkDepth > 0) this.#linked.push(run.text);
    if (/\S/.test(run.text)) {
      this.#runs.push(run);
      this.#breaks = 0;
    }
  }

  #readElement(element: TreeElement, context: Context): void {
    const name = element.localName;
    if (dropped.has(name)) return;
    if (name === 'br') {
      this.#breaks += 1;
      this.#parts.push('\n');
      if (this.#breaks > 1 && !context.isCode) this.flush(context);
      return;
    }
    if (inline.has(name)) {
      this.#readInline(element, name, context);
      return;
    }
    this.#readBlock(element, name, context);
  }

  #readInline(element: TreeElement, name: string, context: Context): void {
    const marks = marksOf(element, this.#seen);
    if ((marks & mark.hidden) !== 0) return;
    if (isAnchorSign(element, context.kind === 'heading')) return;
    const isLink = name === 'a' && leadsAway(element, context.kind);
    if (isLink) this.#linkDepth += 1;
    const from = this.blocks.length;
    const runsBefore = this.#runs.length;
    this.read(element, context);
    if (isLink) this.#linkDepth -= 1;
    if (context.isCode && isLineNumber(element)) this.#parts.push(' ');
    if (marks === 0) return;
    if (this.blocks.length > from) {
      this.scopes.push({ element, marks, start: from, end: this.blocks.length });
    } else {
      let length = 0;
      for (const run of this.#runs.slice(runsBefore)) length += run.text.length;
      this.#marked = { marks: this.#marked.marks | marks, length: this.#marked.length + length };
    }
  }

  #readBlock(element: TreeElement, name: string, context: Context): void {
    const marks = marksOf(element, this.#seen);
    if (context.isOne) {
      if ((marks & mark.hidden) === 0) this.#readPart(element, context);
      return;
    }
    this.flush(context);
    const from = this.blocks.length;
    const inner = this.#contextOf(element, name, context);
    if (name === 'td' || name === 'th') this.#readCell(element, inner);
    else this.read(element, inner);
    this.flush(inner);
    if (name === 'tr') this.#endRow(inner);
    this.#lowerBoxTitle(element, from);
    if (marks !== 0 && this.blocks.length > from) {
      this.scopes.push({ element, marks, start: from, end: this.blocks.length });
    }
  }

  #readPart(element: TreeElement, context: Context): void {
    const edge = context.isCode ? '\n' : ' ';
    const hasEnded = () => this.#parts.at(-1)?.endsWith(edge) !== false;
    if (!hasEnded()) this.#parts.push(edge);
    this.read(element, context);
    if (!hasEnded()) this.#parts.push(edge);
  }

  #lowerBoxTitle(element: TreeElement, from: number): void {
    if (!isBoxTitle(this.blocks, element, from)) return;
    this.blocks[from] = { ...(this.blocks[from] as Block), level: boxTitleLevel };
  }

  #contextOf(element: TreeElement, name: string, outer: Context): Context {
    const context = boxedContext(element, outer);
    if (/^h[1-6]$/.test(name)) {
      const isOne = isOneHeading(element);
      return { ...context, kind: 'heading', level: Number(name[1]), isOne };
    }
    if (isListing(element)) {
      return { ...context, kind: 'code', isCode: true, isOne: true, language: '' };
    }
    if (name === 'blockquote') return { ...context, quote: context.quote + 1 };
    if (name === 'pre') {
      return { ...context, kind: 'code', isCode: true, language: languageOf(element) };
    }
    if (name === 'ul' || name === 'ol' || name === 'dl') {
      const place = name === 'ol' ? Number(element.getAttribute('start') ?? 1) || 1 : undefined;
      return { ...context, listDepth: context.listDepth + 1, list: { place } };
    }
    if (name === 'li' || name === 'dt' || name === 'dd') {
      this.#marker = name === 'li' ? nextMarker(context.list) : '';
      return { ...context, kind: 'item', level: context.listDepth };
    }
    // A caption is not part of the first row.
    if (name === 'caption') return { ...context, kind: 'paragraph', table: 0 };
    if (name === 'table') {
      this.#tables += 1;
      return { ...context, table: isGrid(element) ? this.#tables : 0 };
    }
    if (sectionTags.has(name)) {
      this.parents.push(context.section);
      return { ...context, section: this.parents.length - 1 };
    }
    return context;
  }

  #readCell(element: TreeElement, context: Context): void {
    this.read(element, context);
    if (context.table === 0) return;
    const text = clean(this.#parts.slice(this.#cellStart).join(''));
    this.#cells.push(text);
    this.#parts.push(' ');
    this.#cellStart = this.#parts.length;
  }

  #endRow(context: Context): void {
    if (context.table === 0) return;
    this.#push({ ...context, kind: 'row' });
  }

  flush(context: Context): void {
    this.#breaks = 0;
    if (context.table !== 0) {
      this.#parts.push(' ');
      return;
    }
    this.#push(context);
  }

  #push(context: Context): void {
    const raw = this.#parts.join('');
    const text = context.isCode ? raw.replace(/^\n+/, '').trimEnd() : clean(raw);
    if (text.length > 0 && this.#runs.length > 0) {
      this.blocks.push({
        kind: context.kind,
        level: context.level,
        marker: this.#marker,
        quote: context.quote,
        isTitle: context.isTitle,
        language: context.language,
        table: context.table,
        cells: this.#cells,
        text,
        words: countWords(text),
        linkedWords: countWords(this.#linked.join(' ')),
        marks: this.#marked.length >= 0.8 * text.length ? this.#marked.marks : 0,
        runs: this.#runs,
        section: context.section,
      });
      this.#marker = '';
    }
    this.#parts = [];
    this.#linked = [];
    this.#runs = [];
    this.#marked = { marks: 0, length: 0 };
    this.#cells = [];
    this.#cellStart = 0;
  }
}

function boxedContext(element: TreeElement, context: Context): Context {
  const { box } = context;
  if (isTitledBox(element))
    return { ...context, quote: context.quote + 1, box: { isTitled: false } };
  if (box === undefined || box.isTitled || !isCalledTitle(element)) return context;
  box.isTitled = true;
  return { ...context, isTitle: true };
}

/** Scripts without spaces have about one word per two characters. */
export function countWords(text: string): number {
  let count = 0;
  let isInside = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x2e80 && code <= 0xd7ff) {
      count += 0.5;
      isInside = false;
      continue;
    }
    const isSpace = code <= 32 || code === 0xa0;
    if (!isSpace && !isInside) count += 1;
    isInside = !isSpace;
  }
  return Math.ceil(count);
}

/** Adjacent text nodes are one run: where a parser splits them has no meaning. */
export function runFrom(node: TreeLeaf): Run & { readonly next: TreeNode | null } {
  let text = node.data;
  let next = node.nextSibling;
  while (next !== null && isText(next)) {
    text += next.data;
    next = next.nextSibling;
  }
  return { node, text, next };
}

function clean(text: string): string {
  const blanked = text.replace(blanksInLine, ' ');
  return (blanked.includes('\n') ? blanked.replace(/ ?\n ?/g, '\n') : blanked).trim();
}

function languageOf(element: TreeElement): string {
  let names = element.getAttribute('class') ?? '';
  const child = element.firstChild;
  if (child !== null && isElement(child)) names += ` ${child.getAttribute('class') ?? ''}`;
  return (
    /(?:^|\s)(?:language|lang|brush|highlight-source)[-:]\s?([\w+#-]{1,20})/.exec(names)?.[1] ?? ''
  );
}

function nextMarker(list: List): string {
  if (list.place === undefined) return '-';
  list.place += 1;
  return `${list.place - 1}.`;
}
