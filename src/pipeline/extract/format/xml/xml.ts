/**
 * Parses XML in one pass. Entities are the five predefined ones, numeric ones, and those that a
 * document defines as a few plain characters; depth and count are bounded. Wrong nesting is an
 * error: nothing is guessed.
 */
import { limits } from '../../../../kernel/limits/limits.ts';
import { beyond, damaged } from '../refuse.ts';
import { type Entities, readDoctype } from './doctype.ts';

export interface XmlHandler {
  readonly onOpen?: (name: string, attributes: string) => void;
  readonly onText?: (text: string) => void;
  readonly onClose?: (name: string) => void;
  readonly elementsMax?: number;
}

export interface XmlElement {
  /** Without the prefix. */
  readonly name: string;
  /** Unparsed; read with `attributeOf`. */
  readonly attributes: string;
  readonly children: (XmlElement | string)[];
}

export function readXml(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: '', children: [] };
  const open: XmlElement[] = [root];
  scanXml(text, {
    onOpen: (name, attributes) => {
      const element: XmlElement = { name: localName(name), attributes, children: [] };
      open.at(-1)?.children.push(element);
      open.push(element);
    },
    onText: (words) => open.at(-1)?.children.push(words),
    onClose: () => open.pop(),
  });
  return root;
}

/** By the full name, including the prefix: `r:id` is not `id`. */
export function attributeOf({ attributes }: XmlElement, name: string): string | undefined {
  return attributeIn(attributes, name);
}

/** A name takes all of its letters at once, with its value or without: no backtracking. */
const attributePattern = /([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g;

export function attributeIn(attributes: string, name: string): string | undefined {
  for (const [, found, double, single] of attributes.matchAll(attributePattern)) {
    const value = double ?? single;
    if (found === name && value !== undefined) return decodeXml(value);
  }
  return undefined;
}

export function childrenOf(element: XmlElement, name?: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement =>
      typeof child !== 'string' && (name === undefined || child.name === name),
  );
}

export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0];
}

/** In document order; matches are not searched again. */
export function descendantsOf(element: XmlElement, name: string): XmlElement[] {
  return childrenOf(element).flatMap((child) =>
    child.name === name ? [child] : descendantsOf(child, name),
  );
}

export function textOf(element: XmlElement): string {
  return element.children
    .map((child) => (typeof child === 'string' ? child : textOf(child)))
    .join('');
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

export function scanXml(text: string, handler: XmlHandler): void {
  const { onOpen, onText, onClose, elementsMax = limits.parse.xmlElementsMax } = handler;
  const open: string[] = [];
  let entities: Entities = new Map();
  let count = 0;
  let place = 0;
  while (place < text.length) {
    const tag = text.indexOf('<', place);
    const end = tag < 0 ? text.length : tag;
    if (end > place) onText?.(decodeXml(text.slice(place, end), entities));
    if (tag < 0) break;
    const special = specials.find(([start]) => text.startsWith(start, tag));
    if (special) {
      if (special[0] === '<!') ({ entities } = readDoctype(text, tag));
      place = special[1](text, tag, onText);
      continue;
    }
    const close = endOfTag(text, tag + 1);
    const inside = text.slice(tag + 1, close);
    place = close + 1;
    if (inside.startsWith('/')) {
      const name = inside.slice(1).trim();
      if (open.pop() !== name) throw damaged(`the XML closes ${name.slice(0, 60)} where it is not`);
      onClose?.(name);
      continue;
    }
    const name = /^[^\s/>]+/.exec(inside)?.[0];
    if (name === undefined) throw damaged('the XML has a tag without a name');
    count += 1;
    checkBounds(open.length, count, elementsMax);
    const isEmpty = inside.endsWith('/');
    onOpen?.(name, inside.slice(name.length, isEmpty ? -1 : undefined));
    if (isEmpty) onClose?.(name);
    else open.push(name);
  }
  if (open.length > 0 || count === 0) throw damaged('the XML is cut off');
}

type Special = (text: string, start: number, onText: XmlHandler['onText']) => number;

const specials: readonly (readonly [start: string, skip: Special])[] = [
  ['<!--', (text, start) => after(text, '-->', start + 4)],
  [
    '<![CDATA[',
    (text, start, onText) => {
      const next = after(text, ']]>', start + 9);
      onText?.(text.slice(start + 9, next - 3));
      return next;
    },
  ],
  ['<!', skipDoctype],
  ['<?', (text, start) => after(text, '?>', start + 2)],
];

function skipDoctype(text: string, start: number): number {
  return readDoctype(text, start).next;
}

function after(text: string, mark: string, from: number): number {
  const place = text.indexOf(mark, from);
  if (place < 0) throw damaged('the XML is cut off');
  return place + mark.length;
}

/** A `>` may occur in a quoted value. */
function endOfTag(text: string, from: number): number {
  let close = text.indexOf('>', from);
  let seen = from;
  while (close >= 0) {
    const open = openQuote(text, seen, close);
    if (open === undefined) return close;
    seen = after(text, open.quote, open.place + 1);
    if (seen > close) close = text.indexOf('>', seen);
  }
  throw damaged('the XML is cut off');
}

function openQuote(
  text: string,
  from: number,
  to: number,
): { readonly quote: string; readonly place: number } | undefined {
  for (let place = from; place < to; place += 1) {
    const character = text[place];
    if (character === '"' || character === "'") return { quote: character, place };
  }
  return undefined;
}

function checkBounds(depth: number, count: number, elementsMax: number): void {
  if (depth > limits.parse.xmlDepthMax) {
    throw damaged(`the XML is nested deeper than ${limits.parse.xmlDepthMax} elements`);
  }
  if (count > elementsMax) {
    throw beyond('elements', `the XML has more than ${elementsMax} elements`);
  }
}

const reference = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([\w.-]{1,60}));/gi;

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

export function decodeXml(text: string, entities?: Entities): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (whole, hex, ten, name) => {
    if (name !== undefined) return named[name] ?? entities?.get(name) ?? whole;
    const code = Number.parseInt(hex ?? ten, hex === undefined ? 10 : 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
