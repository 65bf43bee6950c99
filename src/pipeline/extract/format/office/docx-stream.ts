/**
 * Reads DOCX in one pass without a tree, for documents too long for the library, which takes about
 * two kilobytes per element. Headings, lists, tables, text boxes, notes and comments are kept.
 */

import { textPart, xmlPart } from '../parts.ts';
import { damaged } from '../refuse.ts';
import { toTable } from '../table.ts';
import {
  attributeIn,
  attributeOf,
  childOf,
  childrenOf,
  descendantsOf,
  localName,
  scanXml,
  textOf,
} from '../xml/xml.ts';
import type { Zip } from '../zip/zip.ts';
import { DocxNotes } from './docx-notes.ts';
import { withEquations } from './equation.ts';

export const wordDocument = 'word/document.xml';

export function streamDocx(zip: Zip): string {
  const text = textPart(zip, wordDocument);
  if (text === undefined) throw damaged(`the archive lacks its part ${wordDocument}`);
  const reader = new DocxReader(headingsOf(zip), new DocxNotes(zip));
  scanXml(withEquations(text), {
    onOpen: (name, attributes) => reader.open(localName(name), attributes),
    onText: (words) => reader.text(words),
    onClose: (name) => reader.close(localName(name)),
  });
  return reader.finish();
}

/** The words of notes and comments, which are in separate parts and are skipped. */
export function notesOfDocx(zip: Zip): string[] {
  return ['footnotes', 'endnotes', 'comments'].flatMap((name) => {
    const part = xmlPart(zip, `word/${name}.xml`);
    const notes = part ? childrenOf(part) : [];
    return notes
      .map((note) => descendantsOf(note, 't').map(textOf).join(' ').trim())
      .filter((text) => text !== '');
  });
}

/** The level of each heading style, by its language-independent name. */
function headingsOf(zip: Zip): ReadonlyMap<string, number> {
  const styles = xmlPart(zip, 'word/styles.xml');
  if (!styles) return new Map();
  return new Map(
    descendantsOf(styles, 'style').flatMap((style): [string, number][] => {
      const named = childOf(style, 'name');
      const name = (named && attributeOf(named, 'w:val')) ?? '';
      const level = /^title$/i.test(name) ? '1' : /^heading (\d)$/i.exec(name)?.[1];
      const id = attributeOf(style, 'w:styleId');
      return level === undefined || id === undefined ? [] : [[id, Number(level)]];
    }),
  );
}

class DocxReader {
  readonly #headings: ReadonlyMap<string, number>;
  readonly #notes: DocxNotes;
  readonly #blocks: string[] = [];
  #words: string[] = [];
  #isText = false;
  #level = 0;
  /** For a list item; undefined for a paragraph. */
  #depth: number | undefined;
  #tables = 0;
  #cell: string[] = [];
  #cells: string[] = [];
  #rows: string[][] = [];
  #wasItem = false;
  /** Content repeated for older programs. */
  #fallbacks = 0;

  constructor(headings: ReadonlyMap<string, number>, notes: DocxNotes) {
    this.#headings = headings;
    this.#notes = notes;
  }

  open(name: string, attributes: string): void {
    if (name === 'Fallback') this.#fallbacks += 1;
    if (this.#fallbacks > 0) return;
    const mark = this.#notes.mark(name, attributes);
    if (mark !== undefined) this.#words.push(mark);
    this.#opened[name]?.(attributeIn(attributes, 'w:val'));
  }

  text(words: string): void {
    if (this.#isText) this.#words.push(words);
  }

  close(name: string): void {
    if (this.#fallbacks === 0) this.#closed[name]?.();
    if (name === 'Fallback') this.#fallbacks -= 1;
  }

  finish(): string {
    return [this.#blocks.join('').trim(), ...this.#notes.list()].join('\n\n');
  }

  readonly #opened: Readonly<Record<string, (value: string | undefined) => void>> = {
    t: () => {
      this.#isText = true;
    },
    tab: () => this.#words.push(' '),
    br: () => this.#words.push('\n'),
    pStyle: (style) => {
      this.#level = this.#headings.get(style ?? '') ?? 0;
    },
    ilvl: (depth) => {
      this.#depth = Math.min(Number(depth) || 0, 6);
    },
    tbl: () => {
      this.#tables += 1;
    },
    // A text box is inside a paragraph, and has paragraphs of its own.
    txbxContent: () => this.#endParagraph(),
  };

  readonly #closed: Readonly<Record<string, () => void>> = {
    t: () => {
      this.#isText = false;
    },
    p: () => this.#endParagraph(),
    tc: () => {
      if (this.#tables > 1) return;
      this.#cells.push(this.#cell.join(' '));
      this.#cell = [];
    },
    tr: () => {
      if (this.#tables > 1) return;
      this.#rows.push(this.#cells);
      this.#cells = [];
    },
    tbl: () => {
      this.#tables -= 1;
      if (this.#tables > 0) return;
      this.#blocks.push(`\n\n${toTable(this.#rows)}`);
      this.#rows = [];
      this.#wasItem = false;
    },
  };

  #endParagraph(): void {
    const [level, depth] = [this.#level, this.#depth];
    const text = this.#words.join('').trim();
    this.#words = [];
    this.#level = 0;
    this.#depth = undefined;
    if (text === '') return;
    if (this.#tables > 0) {
      this.#cell.push(text);
      return;
    }
    const isItem = level === 0 && depth !== undefined;
    const gap = isItem && this.#wasItem ? '\n' : '\n\n';
    this.#wasItem = isItem;
    if (isItem) this.#blocks.push(`${gap}${'   '.repeat(depth)}- ${text.replace(/\s+/g, ' ')}`);
    else if (level > 0) {
      this.#blocks.push(`${gap}${'#'.repeat(level)} ${text.replace(/\s+/g, ' ')}`);
    } else this.#blocks.push(`${gap}${text}`);
  }
}
