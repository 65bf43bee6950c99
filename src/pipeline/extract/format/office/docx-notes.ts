/** The notes and comments of a Word document: a mark at their reference, and a list at the end. */
import { xmlPart } from '../parts.ts';
import { attributeIn, attributeOf, descendantsOf, textOf, type XmlElement } from '../xml/xml.ts';
import type { Zip } from '../zip/zip.ts';

type Kind = 'footnote' | 'endnote' | 'comment';

const references: Readonly<Record<string, Kind>> = {
  footnoteReference: 'footnote',
  endnoteReference: 'endnote',
  commentReference: 'comment',
};

export class DocxNotes {
  readonly #parts: Readonly<Record<Kind, ReadonlyMap<string, XmlElement>>>;
  readonly #notes: string[] = [];
  readonly #comments: string[] = [];

  constructor(zip: Zip) {
    this.#parts = {
      footnote: byId(zip, 'footnote'),
      endnote: byId(zip, 'endnote'),
      comment: byId(zip, 'comment'),
    };
  }

  /** The text for an element that refers to a note, else undefined. */
  mark(name: string, attributes: string): string | undefined {
    const kind = references[name];
    const note = kind && this.#parts[kind].get(attributeIn(attributes, 'w:id') ?? '');
    if (!note) return undefined;
    if (kind !== 'comment') return `[${this.#notes.push(wordsOf(note))}]`;
    const mark = `[${attributeOf(note, 'w:initials') ?? ''}${this.#comments.length + 1}]`;
    this.#comments.push(`Comment ${mark}\n\n${wordsOf(note)}`);
    return mark;
  }

  /** The referenced notes, then the comments. */
  list(): string[] {
    const notes = this.#notes.map((note, index) => `${index + 1}. ${note}`);
    return [...(notes.length > 0 ? [notes.join('\n')] : []), ...this.#comments];
  }
}

function byId(zip: Zip, kind: Kind): ReadonlyMap<string, XmlElement> {
  const part = xmlPart(zip, `word/${kind}s.xml`);
  const notes = part ? descendantsOf(part, kind) : [];
  return new Map(notes.map((note) => [attributeOf(note, 'w:id') ?? '', note]));
}

function wordsOf(note: XmlElement): string {
  const paragraphs = descendantsOf(note, 'p').map((paragraph) =>
    descendantsOf(paragraph, 't').map(textOf).join(''),
  );
  return paragraphs.join(' ').replace(/\s+/g, ' ').trim();
}
