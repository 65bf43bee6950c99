/** Text on a sheet outside its cells: comments, text boxes and shapes. */

import { relationsOf, xmlPart } from '../parts.ts';
import { attributeOf, descendantsOf, textOf, type XmlElement } from '../xml/xml.ts';
import type { Zip } from '../zip/zip.ts';

const workbook = 'xl/workbook.xml';

/** By sheet name, each in order. */
export function sheetNotes(zip: Zip): ReadonlyMap<string, readonly string[]> {
  const book = xmlPart(zip, workbook);
  if (!book) return new Map();
  const targets = new Map(relationsOf(zip, workbook).map(({ id, target }) => [id, target]));
  return new Map(
    descendantsOf(book, 'sheet').map((sheet): [string, readonly string[]] => {
      const target = targets.get(attributeOf(sheet, 'r:id') ?? '');
      const name = attributeOf(sheet, 'name') ?? '';
      return [name, target === undefined ? [] : notesOf(zip, target)];
    }),
  );
}

function notesOf(zip: Zip, sheet: string): string[] {
  return relationsOf(zip, sheet).flatMap(({ type, target }) => {
    const part = /^(?:comments|threadedComment|drawing)$/.test(type) && xmlPart(zip, target);
    if (!part) return [];
    return type === 'drawing' ? boxesOf(part) : commentsOf(part);
  });
}

function commentsOf(part: XmlElement): string[] {
  const comments = [...descendantsOf(part, 'comment'), ...descendantsOf(part, 'threadedComment')];
  return comments.flatMap((comment) => {
    const text = clean(textOf(comment));
    return text === '' ? [] : [`${attributeOf(comment, 'ref') ?? ''}: ${text}`];
  });
}

function boxesOf(part: XmlElement): string[] {
  return descendantsOf(part, 'txBody')
    .map((box) => clean(descendantsOf(box, 'p').map(textOf).join('\n')))
    .filter((text) => text !== '');
}

function clean(text: string): string {
  return text.replace(/[^\S\n]+/g, ' ').trim();
}
