/**
 * Parses the types of a declaration file generated from an OpenAPI document: objects, lists,
 * unions, literals and references. Such a file contains nothing else.
 */
export type TypeNode =
  | { readonly kind: 'word'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | number }
  | { readonly kind: 'list'; readonly of: TypeNode }
  | { readonly kind: 'union' | 'all'; readonly of: readonly TypeNode[] }
  | {
      readonly kind: 'object';
      readonly members: ReadonlyMap<string, Member>;
      readonly rest?: TypeNode;
    }
  | { readonly kind: 'at'; readonly of: TypeNode; readonly key: string }
  | { readonly kind: 'made'; readonly name: string; readonly of: readonly TypeNode[] };

export interface Member {
  readonly type: TypeNode;
  readonly isOptional: boolean;
}

type ObjectNode = Extract<TypeNode, { kind: 'object' }>;

/** The interface of this name. */
export function readInterface(text: string, name: string): ObjectNode {
  const start = text.indexOf(`export interface ${name} {`);
  if (start < 0) throw new Error(`there is no interface ${name}`);
  const body = text.slice(text.indexOf('{', start)).replace(/\/\*[\s\S]*?\*\//g, '');
  const node = new Reader(body).type();
  if (node.kind !== 'object') throw new Error(`${name} is not an object`);
  return node;
}

const token = /\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\w+|[{}()[\]<>|&:;?,])/y;

class Reader {
  readonly #text: string;
  #next = '';
  #place = 0;

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  type(): TypeNode {
    this.#take('|');
    return this.#joined('|', () => this.#joined('&', () => this.#indexed()));
  }

  #joined(sign: '|' | '&', part: () => TypeNode): TypeNode {
    const parts = [part()];
    while (this.#take(sign)) parts.push(part());
    const [only] = parts;
    return parts.length === 1 && only ? only : { kind: sign === '|' ? 'union' : 'all', of: parts };
  }

  #indexed(): TypeNode {
    let node = this.#primary();
    while (this.#take('[')) {
      if (this.#take(']')) {
        node = { kind: 'list', of: node };
      } else {
        node = { kind: 'at', of: node, key: this.#name() };
        this.#need(']');
      }
    }
    return node;
  }

  #primary(): TypeNode {
    if (this.#take('(')) return this.#closed(this.type(), ')');
    if (this.#next === '{') return this.#object();
    if (this.#take('[')) return { kind: 'made', name: 'tuple', of: this.#types(']') };
    const word = this.#advance();
    if (word.startsWith('"')) return { kind: 'literal', value: JSON.parse(word) };
    if (/^-?\d/.test(word)) return { kind: 'literal', value: Number(word) };
    if (this.#take('<')) return { kind: 'made', name: word, of: this.#types('>') };
    return { kind: 'word', name: word };
  }

  #object(): TypeNode {
    this.#need('{');
    const members = new Map<string, Member>();
    let rest: TypeNode | undefined;
    while (!this.#take('}')) {
      if (this.#take('[')) {
        this.#name();
        this.#need(':');
        this.type();
        this.#need(']');
        this.#need(':');
        rest = this.type();
      } else {
        const name = this.#name();
        const isOptional = this.#take('?');
        this.#need(':');
        members.set(name, { type: this.type(), isOptional });
      }
      this.#take(';');
    }
    return { kind: 'object', members, ...(rest && { rest }) };
  }

  #types(end: string): TypeNode[] {
    const types: TypeNode[] = [];
    while (!this.#take(end)) {
      types.push(this.type());
      this.#take(',');
    }
    return types;
  }

  #closed(node: TypeNode, end: string): TypeNode {
    this.#need(end);
    return node;
  }

  #name(): string {
    const word = this.#advance();
    return word.startsWith('"') ? JSON.parse(word) : word;
  }

  #take(sign: string): boolean {
    if (this.#next !== sign) return false;
    this.#advance();
    return true;
  }

  #need(sign: string): void {
    if (!this.#take(sign)) throw new Error(`${sign} is missing before ${this.#next}`);
  }

  #advance(): string {
    const taken = this.#next;
    token.lastIndex = this.#place;
    this.#next = token.exec(this.#text)?.[1] ?? '';
    this.#place = token.lastIndex;
    return taken;
  }
}
