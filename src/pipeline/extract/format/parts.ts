/** Common parts of the office formats: XML parts in a ZIP, with relations between them. */
import { posix } from 'node:path';
import { damaged } from './refuse.ts';
import { decodeText } from './text/decode-text.ts';
import {
  attributeOf,
  childrenOf,
  descendantsOf,
  readXml,
  scanXml,
  textOf,
  type XmlElement,
} from './xml/xml.ts';
import type { Zip } from './zip/zip.ts';
import { writeZip } from './zip/zip-writer.ts';

export function textPart(zip: Zip, name: string): string | undefined {
  const bytes = zip.read(name);
  return bytes && decodeText(bytes).text;
}

export function xmlPart(zip: Zip, name: string): XmlElement | undefined {
  const text = textPart(zip, name);
  return text === undefined ? undefined : readXml(text);
}

export function neededPart(zip: Zip, name: string): XmlElement {
  const part = xmlPart(zip, name);
  if (!part) throw damaged(`the archive lacks its part ${name}`);
  return part;
}

/**
 * An archive of our own with only the XML parts, each checked, for a library. It has no pictures to
 * decode, one way to read it, and no entities to expand.
 */
export function checkedParts(zip: Zip, elementsMax: number, change?: ChangePart): Buffer {
  const usual = usualNames(zip);
  const names = zip.names.filter((name) => /\.(?:xml|rels)$|^mimetype$/i.test(name));
  return writeZip(
    names.map((stored) => {
      const bytes = zip.read(stored) ?? new Uint8Array();
      const name = usual.get(stored.toLowerCase()) ?? stored;
      if (name === 'mimetype' || bytes.length === 0) return [name, bytes];
      const { text } = decodeText(bytes);
      scanXml(text, { elementsMax });
      const changed = change?.(name, text) ?? text;
      return [name, changed === text ? bytes : Buffer.from(changed)];
    }),
    'stored',
  );
}

const contentTypes = '[Content_Types].xml';

/**
 * Parts by lower-case name, with the names that other parts use. Some programs write all names in
 * lower case, and libraries compare them exactly.
 */
function usualNames(zip: Zip): ReadonlyMap<string, string> {
  const usual = new Map<string, string>();
  if (zip.names.includes(contentTypes)) return usual;
  const targets = zip.names.flatMap((name) => {
    const [, folder, part] = /^(.*?)_rels\/([^/]*)\.rels$/i.exec(name) ?? [];
    return part === undefined ? [] : relationsOf(zip, `${folder}${part}`);
  });
  for (const name of [contentTypes, ...targets.map(({ target }) => target)]) {
    usual.set(name.toLowerCase(), name);
  }
  return usual;
}

/** Rewrites what a library does not read into a form that it reads. */
export type ChangePart = (name: string, text: string) => string;

export interface Relation {
  readonly id: string;
  /** The last segment of the type URI, such as `slide`. */
  readonly type: string;
  readonly target: string;
}

/** The relations of one part to others in the same archive. External targets are not followed. */
export function relationsOf(zip: Zip, part: string): Relation[] {
  const { dir, base } = posix.parse(part);
  const relations = xmlPart(zip, posix.join(dir, '_rels', `${base}.rels`));
  if (!relations) return [];
  return descendantsOf(relations, 'Relationship').flatMap((element) => {
    const target = attributeOf(element, 'Target') ?? '';
    if (attributeOf(element, 'TargetMode') === 'External' || target === '') return [];
    const path = target.startsWith('/') ? target.slice(1) : posix.join(dir, target);
    const type = attributeOf(element, 'Type')?.split('/').at(-1) ?? '';
    return [{ id: attributeOf(element, 'Id') ?? '', type, target: path }];
  });
}

export interface Properties {
  readonly title: string | null;
  readonly language: string | null;
  readonly meta: Readonly<Record<string, string>>;
}

const metaNames: readonly (readonly [field: string, ...names: string[]])[] = [
  ['author', 'initial-creator', 'creator'],
  ['date', 'date', 'modified', 'created', 'creation-date'],
  ['description', 'description'],
  ['publisher', 'publisher'],
];

/** Title, author and date by their Dublin Core names, which all of these formats use. */
export function propertiesOf(part: XmlElement | undefined): Properties {
  const find = (name: string): string | undefined => {
    const found = part && descendantsOf(part, name)[0];
    const text = found && textOf(found).replace(/\s+/g, ' ').trim();
    return text === '' ? undefined : text;
  };
  const meta = metaNames.flatMap(([field, ...names]) => {
    const value = names.map(find).find((text) => text !== undefined);
    return value === undefined ? [] : [[field, value] as const];
  });
  return {
    title: find('title') ?? null,
    language: find('language') ?? null,
    meta: Object.fromEntries(meta),
  };
}

/** The document element below the root element. */
export function documentElement(part: XmlElement): XmlElement {
  const [element] = childrenOf(part);
  if (!element) throw damaged('the document has no content');
  return element;
}
