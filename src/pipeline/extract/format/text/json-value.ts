/**
 * JSON without conversion: numbers keep their digits, keys their order and repetitions, and no key
 * can reach a prototype, because no JavaScript object is created.
 */
import { limits } from '../../../../kernel/limits/limits.ts';
import { beyond, damaged } from '../refuse.ts';

export type JsonValue =
  | { readonly kind: 'text'; readonly text: string }
  /** A number, `true`, `false` or `null`, as written. */
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'record'; readonly fields: readonly JsonField[] };

export type JsonField = readonly [key: string, value: JsonValue];

export function readJson(text: string): JsonValue {
  const reader = new JsonReader(text);
  const value = reader.readValue(0);
  reader.expectEnd();
  return value;
}

const literal = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const space = /[ \t\r\n]*/y;

class JsonReader {
  readonly #text: string;
  #place = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(depth: number): JsonValue {
    if (depth > limits.parse.jsonDepthMax) {
      throw beyond('depth', `the JSON is nested deeper than ${limits.parse.jsonDepthMax}`);
    }
    this.#skipSpace();
    const first = this.#text[this.#place];
    if (first === '"') return { kind: 'text', text: this.#readString() };
    if (first === '[') return { kind: 'list', items: this.#readItems(depth) };
    if (first === '{') return { kind: 'record', fields: this.#readFields(depth) };
    literal.lastIndex = this.#place;
    const found = literal.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected();
    this.#place += found.length;
    return { kind: 'literal', text: found };
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#place < this.#text.length) throw this.#unexpected();
  }

  #readItems(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#place += 1;
    if (this.#take(']')) return items;
    do items.push(this.readValue(depth + 1));
    while (this.#take(','));
    if (!this.#take(']')) throw this.#unexpected();
    return items;
  }

  #readFields(depth: number): JsonField[] {
    const fields: JsonField[] = [];
    this.#place += 1;
    if (this.#take('}')) return fields;
    do {
      this.#skipSpace();
      if (this.#text[this.#place] !== '"') throw this.#unexpected();
      const key = this.#readString();
      if (!this.#take(':')) throw this.#unexpected();
      fields.push([key, this.readValue(depth + 1)]);
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#unexpected();
    return fields;
  }

  #readString(): string {
    const start = this.#place;
    let end = this.#text.indexOf('"', start + 1);
    while (end >= 0 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1);
    if (end < 0) throw this.#unexpected();
    this.#place = end + 1;
    const inside = this.#text.slice(start + 1, end);
    return inside.includes('\\') ? unescaped(inside) : inside;
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#place] !== character) return false;
    this.#place += 1;
    return true;
  }

  #skipSpace(): void {
    space.lastIndex = this.#place;
    this.#place += space.exec(this.#text)?.[0].length ?? 0;
  }

  #unexpected(): Error {
    const isCut = this.#place >= this.#text.length;
    return damaged(
      isCut ? 'the JSON is cut off' : `the JSON has an unexpected character at ${this.#place}`,
    );
  }
}

/** Preceded by an odd number of backslashes. */
function isEscaped(text: string, place: number): boolean {
  let before = place - 1;
  while (text[before] === '\\') before -= 1;
  return (place - before) % 2 === 0;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '', f: '\n' };

function unescaped(inside: string): string {
  return inside.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code, character) =>
    code === undefined
      ? (escapes[character] ?? character)
      : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
