/**
 * The document type declaration of an XML file. Rules for elements and attributes are skipped. An
 * entity may stand for a few plain characters, or name a picture. An entity made of others, or of a
 * file, is refused: that is how a small file becomes a huge one, or reads another.
 */
import { damaged } from '../refuse.ts';

export type Entities = ReadonlyMap<string, string>;

const valueCharactersMax = 64;

export function readDoctype(text: string, start: number): { next: number; entities: Entities } {
  const end = text.indexOf('>', start);
  const rules = text.indexOf('[', start);
  if (end < 0) throw damaged('the XML is cut off');
  if (rules < 0 || rules > end) return { next: end + 1, entities: new Map() };
  const entities = new Map<string, string>();
  let place = rules + 1;
  for (;;) {
    declaration.lastIndex = place;
    const found = declaration.exec(text);
    if (!found) break;
    place = declaration.lastIndex;
    const rule = found[0].trim();
    if (rule.startsWith('<!ENTITY')) define(rule, entities);
  }
  const close = /\s*\]\s*>/y;
  close.lastIndex = place;
  if (!close.test(text)) throw damaged('the document type of the XML cannot be read');
  return { next: close.lastIndex, entities };
}

/** A comment, an instruction, or a rule whose quotes may contain anything. */
const declaration = new RegExp(
  [
    /<!--(?:(?!-->)[\s\S])*-->/,
    /<\?(?:(?!\?>)[\s\S])*\?>/,
    /<!(?:ELEMENT|ATTLIST|ENTITY|NOTATION)\s(?:[^"'<>]|"[^"]*"|'[^']*')*>/,
  ]
    .map(({ source }) => `\\s*${source}`)
    .join('|'),
  'y',
);

const unparsed = /^<!ENTITY\s+[\w.:-]+\s+(?:SYSTEM|PUBLIC)\s[\s\S]*\sNDATA\s+[\w.:-]+\s*>$/;
const plain = /^<!ENTITY\s+([\w.:-]{1,60})\s+(?:"([^"]*)"|'([^']*)')\s*>$/;

function define(rule: string, entities: Map<string, string>): void {
  if (unparsed.test(rule)) return;
  const [, name, double, single] = plain.exec(rule) ?? [];
  const value = (double ?? single ?? '').replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, character);
  const isHarmless =
    name !== undefined && value.length <= valueCharactersMax && !/[&%<]/.test(value);
  if (!isHarmless) {
    throw damaged('the XML defines entities that are made of others or of files, which is refused');
  }
  entities.set(name, value);
}

function character(_whole: string, hex: string | undefined, ten: string | undefined): string {
  const code = Number.parseInt(hex ?? ten ?? '', hex === undefined ? 10 : 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
