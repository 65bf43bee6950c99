/**
 * The fields at the start of a Markdown file: YAML between lines of `---`, or TOML between lines of
 * `+++`. Only a map of fields is front matter; a page may also begin with a rule.
 */
import { parseDocument } from 'yaml';
import { limits } from '../../../../kernel/limits/limits.ts';
import { keepValid, type Metadata } from '../../../../kernel/metadata/metadata.ts';

export type Field = string | readonly string[];

export interface FrontMatter {
  readonly fields: Readonly<Record<string, Field | undefined>>;
  readonly body: string;
  /** The fields that are valid as metadata, with their names and types as written. */
  readonly metadata?: Metadata | undefined;
}

const charactersMax = 64 * 1024;
/** The YAML parser takes long for some texts. A longer map is read by lines; metadata has less. */
const yamlCharactersMax = limits.metadata.bytesMax;
const fieldsMax = 200;
const itemsMax = 100;

const readers: readonly {
  mark: string;
  ends: readonly string[];
  read: (text: string) => unknown;
}[] = [
  { mark: '---', ends: ['---', '...'], read: readYaml },
  { mark: '+++', ends: ['+++'], read: readToml },
];

/** Line ends must be `\n`. */
export function readFrontMatter(text: string): FrontMatter {
  const none: FrontMatter = { fields: {}, body: text };
  const firstEnd = text.indexOf('\n');
  const reader = readers.find(({ mark }) => text.slice(0, firstEnd).trimEnd() === mark);
  if (!reader) return none;
  for (let start = firstEnd + 1; start < Math.min(text.length, charactersMax); ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    if (reader.ends.includes(text.slice(start, end).trimEnd())) {
      const map = reader.read(text.slice(firstEnd + 1, start));
      if (!isMap(map)) return none;
      return { fields: fieldsOf(map), body: text.slice(end + 1), metadata: metadataOf(map) };
    }
    start = end + 1;
  }
  return none;
}

function readYaml(text: string): unknown {
  const map = text.length > yamlCharactersMax ? undefined : yamlIn(text);
  return map === undefined ? readLines(text, /^([A-Za-z][\w-]{0,40}):[ \t]+(\S.*)$/gm) : map;
}

/** Undefined if it is invalid, or if its aliases would unfold to far more than is written. */
function yamlIn(text: string): unknown {
  const document = parseDocument(text, {
    uniqueKeys: false,
    logLevel: 'silent',
    prettyErrors: false,
  });
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS({ maxAliasCount: itemsMax });
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** Only strings, dates and one-line lists: front matter needs no more of TOML. */
function readToml(text: string): Readonly<Record<string, unknown>> {
  const table = /^[ \t]*\[/m.exec(text);
  const map = readLines(
    text.slice(0, table?.index),
    /^([A-Za-z][\w-]{0,40})[ \t]*=[ \t]*(\S.*)$/gm,
  );
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, listOf(value)]));
}

function listOf(value: string): unknown {
  if (!value.startsWith('[')) return value;
  try {
    return JSON.parse(value.replaceAll("'", '"').replace(/,\s*\]$/, ']'));
  } catch {
    return value; // A list over several lines, or of something else: its first line has to do.
  }
}

/** Invalid YAML may still have plain lines. */
function readLines(text: string, pattern: RegExp): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, unquoted(value.trim())]),
  );
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists of one entry or more become lists of texts; maps are skipped. */
function metadataOf(map: Readonly<Record<string, unknown>>): Metadata {
  const values = Object.entries(map).map(([name, value]): [string, unknown] => {
    if (value instanceof Date) return [name, value.toISOString()];
    return [name, Array.isArray(value) ? fieldOf(value) : value];
  });
  return keepValid(Object.fromEntries(values));
}

function fieldsOf(map: Readonly<Record<string, unknown>>): Record<string, Field> {
  return Object.fromEntries(
    Object.entries(map)
      .slice(0, fieldsMax)
      .flatMap(([name, value]): [string, Field][] => {
        const field = fieldOf(value);
        return field === undefined || field.length === 0 ? [] : [[name.toLowerCase(), field]];
      }),
  );
}

function fieldOf(value: unknown): Field | undefined {
  if (!Array.isArray(value)) return wordsOf(value);
  return value.slice(0, itemsMax).flatMap((item) => wordsOf(item) ?? []);
}

function wordsOf(value: unknown): string | undefined {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return value.trim();
  // An author is often a map with a name.
  return isMap(value) ? wordsOf(value.name) : undefined;
}
