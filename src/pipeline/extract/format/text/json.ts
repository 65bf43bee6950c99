/** JSON and JSON lines, as readable headings and lists of keys and values. */
import { Failure } from '../../../../kernel/failure/failure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { partOf, withLosses } from '../../loss.ts';
import type { Parsed, ParseInput, Parser } from '../../parsed.ts';
import { fileNameOf } from '../names.ts';
import { beyond, damaged } from '../refuse.ts';
import { decodeText } from './decode-text.ts';
import { type JsonField, type JsonValue, readJson } from './json-value.ts';
import { charsetMeta } from './text.ts';

export const parseJson: Parser = async ({ bytes, source, charset: declared, withDropped }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  if (text.trim() === '') return { title: null, language: null, markdown: '', meta: {} };
  let whole: JsonValue;
  try {
    whole = readJson(text);
  } catch (error) {
    // Many JSON-lines files have the extension json.
    if (!isFirstLineWhole(text) || isBeyond(error)) throw error;
    return linesOf(text, { source, meta: charsetMeta(charset, isGuess), withDropped });
  }
  return {
    title: labelOf(whole, titleKeys) ?? (whole.kind === 'list' ? fileNameOf(source) : null),
    language: null,
    markdown: renderWhole(whole),
    meta: charsetMeta(charset, isGuess),
  };
};

export const parseJsonLines: Parser = async (input) => {
  const { bytes, source, charset: declared, withDropped } = input;
  const { text, charset, isGuess } = decodeText(bytes, declared);
  return linesOf(text, { source, meta: charsetMeta(charset, isGuess), withDropped });
};

function isBeyond(error: unknown): boolean {
  return error instanceof Failure && error.code === 'parse_limit_exceeded';
}

function isFirstLineWhole(text: string): boolean {
  const [first = '', second = ''] = text.trim().split('\n', 2);
  try {
    readJson(first);
    return second.trim() !== '';
  } catch {
    return false; // Then the file is no list of lines, and its own error stands.
  }
}

interface Lines extends Pick<ParseInput, 'source' | 'withDropped'> {
  readonly meta: Parsed['meta'];
}

/** An unreadable line is skipped and counted; if no line is readable, the file fails. */
function linesOf(text: string, { source, meta, withDropped }: Lines): Parsed {
  const records: JsonValue[] = [];
  const skipped: string[] = [];
  for (const line of text.split('\n')) {
    if (line.length > limits.parse.lineCharactersMax) {
      throw beyond('line', `a line of the JSON has ${line.length} characters`);
    }
    if (line.trim() === '') continue;
    try {
      records.push(readJson(line));
    } catch (error) {
      if (isBeyond(error)) throw error;
      skipped.push(line.trim());
    }
  }
  if (records.length === 0 && skipped.length > 0) throw damaged('no line of the file is JSON');
  const lines = records.length + skipped.length;
  const parsed = {
    // The first record must not give its name to all.
    title: fileNameOf(source),
    language: null,
    markdown: renderRecords(records),
    meta: {
      ...meta,
      records: records.length,
      ...(skipped.length > 0 && { lines_skipped: skipped.length }),
    },
  };
  const warning = `${partOf(skipped.length, lines, 'lines')} not read: not valid JSON.`;
  const losses = skipped.length > 0 ? [{ warning, reason: 'invalid_line', texts: skipped }] : [];
  return withLosses(parsed, { read: records.length, whole: lines, losses, withDropped });
}

const titleKeys = ['title', 'headline', 'name'];
const labelKeys = ['title', 'headline', 'name', 'subject', 'id', 'key', 'url'];
const labelCharactersMax = 120;
/** Longer texts become paragraphs. */
const lineCharactersMax = 200;

function labelOf(value: JsonValue, keys: readonly string[]): string | undefined {
  if (value.kind !== 'record') return undefined;
  for (const key of keys) {
    const found = value.fields.find(([name]) => name.toLowerCase() === key)?.[1];
    const isShort = found && 'text' in found && found.text.length <= labelCharactersMax;
    const label = isShort ? found.text.replace(/\s+/g, ' ').trim() : '';
    if (label !== '' && label !== 'null') return label;
  }
  return undefined;
}

function renderWhole(value: JsonValue): string {
  if (value.kind === 'record') return renderFields(value.fields);
  if (value.kind !== 'list') return value.text;
  const isRecords = value.items.some(({ kind }) => kind === 'record');
  return isRecords ? renderRecords(value.items) : renderItems(value.items, 0).join('\n');
}

function renderRecords(records: readonly JsonValue[]): string {
  return records
    .map((record, index) => {
      const heading = `## ${labelOf(record, labelKeys) ?? `Record ${index + 1}`}`;
      return `${heading}\n\n${renderWhole(record)}`.trimEnd();
    })
    .join('\n\n');
}

/** Short values form a list; long texts follow it, each under its key. */
function renderFields(fields: readonly JsonField[]): string {
  const isText = ([, value]: JsonField) =>
    value.kind === 'text' && (value.text.length > lineCharactersMax || value.text.includes('\n'));
  const list = fields.filter((field) => !isText(field)).flatMap((field) => renderField(field, 0));
  const texts = fields
    .filter(isText)
    .map(([key, value]) => `**${key}**\n\n${'text' in value ? value.text.trim() : ''}`);
  return [list.join('\n'), ...texts].filter((part) => part !== '').join('\n\n');
}

function renderField([key, value]: JsonField, depth: number): string[] {
  const flat = flatText(value);
  if (flat === '') return [];
  if (flat !== undefined) return [`${indentOf(depth)}- ${key}: ${flat}`];
  return [`${indentOf(depth)}- ${key}:`, ...renderNested(value, depth + 1)];
}

function renderNested(value: JsonValue, depth: number): string[] {
  if (value.kind === 'record') return value.fields.flatMap((field) => renderField(field, depth));
  return value.kind === 'list' ? renderItems(value.items, depth) : [value.text];
}

function renderItems(items: readonly JsonValue[], depth: number): string[] {
  return items.flatMap((item, index) => {
    const flat = flatText(item);
    if (flat === '') return [];
    if (flat !== undefined) return [`${indentOf(depth)}- ${flat}`];
    return [`${indentOf(depth)}- ${index + 1}:`, ...renderNested(item, depth + 1)];
  });
}

function indentOf(depth: number): string {
  return '   '.repeat(Math.min(depth, 6));
}

const flatItemsMax = 50;

/** The value on one line, if it fits; empty if it has no content. */
function flatText(value: JsonValue): string | undefined {
  switch (value.kind) {
    case 'text':
      return value.text.replace(/\s+/g, ' ').trim();
    case 'literal':
      return value.text === 'null' ? '' : value.text;
    case 'list':
      return flatList(value.items.slice(0, flatItemsMax + 1), (item) => flatScalar(item));
    case 'record':
      return flatList(value.fields.slice(0, flatItemsMax + 1), ([key, inner]) => {
        const text = flatScalar(inner);
        return text === '' || text === undefined ? text : `${key}: ${text}`;
      });
  }
}

function flatScalar(value: JsonValue): string | undefined {
  return 'text' in value ? flatText(value) : undefined;
}

function flatList<Item>(
  items: readonly Item[],
  toText: (item: Item) => string | undefined,
): string | undefined {
  if (items.length > flatItemsMax) return undefined;
  const texts = items.map(toText);
  if (texts.includes(undefined)) return undefined;
  const line = texts.filter((text) => text !== '').join(', ');
  return line.length > lineCharactersMax ? undefined : line;
}
