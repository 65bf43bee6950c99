/**
 * The text form of conditions, a small language:
 *
 *   team = "ops" and (year >= 2025 or tags in ("draft", "old")) and not archived exists
 *
 * `not` binds more than `and`, and `and` more than `or`. Texts are in quotes, so that a misspelt
 * number or keyword is never taken for a text.
 */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';
import { closestOf } from '../text/closest-name.ts';
import { type Comparison, type Condition, comparisons, type Scalar, type Where } from './where.ts';

/** Throws `bad_request` with the column of what is wrong. */
export function readWhereText(text: string): Where {
  const { whereCharactersMax } = limits.metadata;
  if (text.length > whereCharactersMax) {
    const message = `a where expression has up to ${whereCharactersMax} characters`;
    throw new Failure('bad_request', message);
  }
  return new WhereParser(text).parse();
}

interface Token {
  readonly kind: 'word' | 'key' | 'text' | 'number' | 'sign' | 'end';
  /** As written; of a key or a text without its quotes and escapes. */
  readonly value: string;
  readonly at: number;
}

const operatorNames = [...comparisons, 'in', 'not in', 'exists'];
const reserved = new Set(['and', 'or', 'not', 'in', 'exists', 'true', 'false']);
const word = /\p{L}[\p{L}\p{N}_.-]*/uy;
const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const sign = /[<>=!~]+|&&|\|\||[()[\],]/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

class WhereParser {
  readonly #text: string;
  #next: Token;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
    this.#next = this.#read();
  }

  parse(): Where {
    const where = this.#either(1);
    if (this.#next.kind !== 'end') throw this.#expected('"and", "or" or the end');
    return where;
  }

  #either(depth: number): Where {
    if (depth > limits.metadata.whereDepthMax) {
      throw this.#refused(`is nested more than ${limits.metadata.whereDepthMax} deep`);
    }
    const parts = [this.#every(depth)];
    while (this.#takeWord('or')) parts.push(this.#every(depth));
    return parts.length === 1 ? (parts[0] as Where) : { or: parts };
  }

  #every(depth: number): Where {
    const parts = [this.#part(depth)];
    while (this.#takeWord('and')) parts.push(this.#part(depth));
    return parts.length === 1 ? (parts[0] as Where) : { and: parts };
  }

  #part(depth: number): Where {
    let isNegated = false;
    while (this.#takeWord('not')) isNegated = !isNegated;
    const part = this.#takeSign('(') ? this.#inner(depth) : this.#condition();
    return isNegated ? { not: part } : part;
  }

  #inner(depth: number): Where {
    const inner = this.#either(depth + 1);
    if (!this.#takeSign(')')) throw this.#expected('"and", "or" or ")"');
    return inner;
  }

  #condition(): Where {
    const { kind, value: key } = this.#next;
    const isKey = kind === 'key' || (kind === 'word' && !reserved.has(key.toLowerCase()));
    if (!isKey) throw this.#expected('a key');
    this.#next = this.#read();
    if (this.#takeWord('exists')) return { key, op: 'exists', values: [] };
    if (this.#takeWord('in')) return { key, op: 'in', values: this.#list() };
    if (this.#takeWord('not')) {
      if (this.#takeWord('in')) return { not: { key, op: 'in', values: this.#list() } };
      if (this.#takeWord('exists')) return { not: { key, op: 'exists', values: [] } };
      throw this.#expected('"in" or "exists"');
    }
    return this.#comparison(key);
  }

  #comparison(key: string): Condition {
    const { kind, value } = this.#next;
    const op = comparisons.find((name) => kind === 'sign' && name === value);
    if (op === undefined) throw this.#noOperator();
    this.#next = this.#read();
    const { at } = this.#next;
    const operand = this.#scalar();
    if (typeof operand === 'boolean' && !isEquality(op)) {
      throw this.#refused('compares numbers or texts; true and false have no order', at);
    }
    return { key, op, values: [operand] };
  }

  #list(): Scalar[] {
    const closing = this.#takeSign('(') ? ')' : this.#takeSign('[') ? ']' : undefined;
    if (closing === undefined) throw this.#expected('a list in parentheses');
    const values = [this.#scalar()];
    while (this.#takeSign(',')) values.push(this.#scalar());
    if (!this.#takeSign(closing)) throw this.#expected(`"," or "${closing}"`);
    const { whereValuesMax } = limits.metadata;
    if (values.length <= whereValuesMax) return values;
    throw this.#refused(`has a list of ${values.length} values; use up to ${whereValuesMax}`);
  }

  #scalar(): Scalar {
    const { kind, value } = this.#next;
    const lower = value.toLowerCase();
    if (kind === 'word' && !['true', 'false'].includes(lower)) {
      throw this.#refused(`has the text ${value} without quotes: write "${value}"`);
    }
    if (kind !== 'word' && kind !== 'text' && kind !== 'number') throw this.#expected('a value');
    this.#next = this.#read();
    if (kind === 'text') return value;
    return kind === 'number' ? Number(value) : lower === 'true';
  }

  #takeWord(name: string): boolean {
    return this.#take(this.#next.kind === 'word' && this.#next.value.toLowerCase() === name);
  }

  #takeSign(name: string): boolean {
    return this.#take(this.#next.kind === 'sign' && this.#next.value === name);
  }

  #take(isNext: boolean): boolean {
    if (isNext) this.#next = this.#read();
    return isNext;
  }

  #read(): Token {
    const text = this.#text;
    let at = this.#end;
    while (/\s/.test(text[at] ?? '')) at += 1;
    const first = text[at];
    if (first === undefined) return this.#token('end', at, { value: '', end: at });
    if (first === '"' || first === "'") return this.#quoted(at, 'text');
    if (first === '`') return this.#quoted(at, 'key');
    const patterns = { word, number, sign };
    for (const kind of ['word', 'number', 'sign'] as const) {
      const pattern = new RegExp(patterns[kind]);
      pattern.lastIndex = at;
      const value = pattern.exec(text)?.[0];
      if (value !== undefined) return this.#token(kind, at, { value, end: at + value.length });
    }
    throw this.#refused(`has an unexpected ${JSON.stringify(first)}`, at);
  }

  #quoted(at: number, kind: 'text' | 'key'): Token {
    const quote = this.#text[at];
    let value = '';
    for (let place = at + 1; place < this.#text.length; place += 1) {
      const character = this.#text[place] as string;
      if (character === quote) return this.#token(kind, at, { value, end: place + 1 });
      if (character !== '\\') value += character;
      else {
        place += 1;
        const escaped = this.#text[place] ?? '';
        value += escapes[escaped] ?? escaped;
      }
    }
    throw this.#refused(`has a quote ${quote} that is not closed`, at);
  }

  #token(kind: Token['kind'], at: number, { value, end }: { value: string; end: number }): Token {
    this.#end = end;
    return { kind, value, at };
  }

  #noOperator(): Failure {
    const { kind, value } = this.#next;
    if (kind !== 'sign' && kind !== 'word') return this.#expected('an operator');
    const closest = closestOf(value.toLowerCase(), operatorNames);
    return this.#refused(`has no operator ${JSON.stringify(value)}; the closest one is ${closest}`);
  }

  #expected(what: string): Failure {
    const { kind, value } = this.#next;
    const found = kind === 'end' ? 'ends' : `has ${JSON.stringify(value)}`;
    return this.#refused(`${found} where ${what} is expected`);
  }

  #refused(reason: string, at = this.#next.at): Failure {
    const message = `the where expression ${reason} (column ${at + 1})`;
    return new Failure('bad_request', message);
  }
}

function isEquality(op: Comparison): boolean {
  return op === '=' || op === '!=';
}
