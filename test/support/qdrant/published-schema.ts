/**
 * Qdrant's published OpenAPI document, as its official client carries it: the client's types are
 * generated from that document, and are read here to validate requests and responses.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readInterface, type TypeNode } from './type-text.ts';

const file = 'openapi/generated_schema.d.ts';

export class PublishedSchema {
  readonly #roots: ReadonlyMap<string, TypeNode>;

  constructor() {
    const entry = fileURLToPath(import.meta.resolve('@qdrant/js-client-rest'));
    const folder = entry.replace(/(?<=js-client-rest\/)dist\/.*$/, 'dist/types/');
    const text = readFileSync(`${folder}${file}`, 'utf8');
    this.#roots = new Map(
      ['paths', 'components', 'operations'].map((name) => [name, readInterface(text, name)]),
    );
  }

  /** The operation behind a method and a path such as `/collections/{collection_name}`. */
  operation(method: string, path: string): Operation {
    const found = this.member(root('paths'), path, method.toLowerCase());
    if (!found) throw new Error(`Qdrant has no ${method} ${path}`);
    return new Operation(this, found);
  }

  /** What is wrong with a value; empty if nothing is. */
  judge(value: unknown, type: TypeNode, place = 'body'): string[] {
    const node = this.resolve(type);
    switch (node.kind) {
      case 'word':
        return judgeWord(value, node.name, place);
      case 'literal':
        return value === node.value ? [] : [`${place} is not ${JSON.stringify(node.value)}`];
      case 'list':
        if (!Array.isArray(value)) return [`${place} is not a list`];
        return value.flatMap((each, index) => this.judge(each, node.of, `${place}[${index}]`));
      case 'all':
        return node.of.flatMap((each) => this.judge(value, each, place));
      case 'union':
        return this.#judgeUnion(value, node.of, place);
      case 'object':
        return this.#judgeObject(value, node, place);
      default:
        return this.#judgeMade(value, node, place);
    }
  }

  resolve(node: TypeNode): TypeNode {
    if (node.kind === 'at') {
      const found = this.#at(node.of, node.key);
      if (!found) throw new Error(`there is no ${node.key}`);
      return this.resolve(found);
    }
    return node.kind === 'word' ? (this.#roots.get(node.name) ?? node) : node;
  }

  #at(of: TypeNode, key: string): TypeNode | undefined {
    const node = this.resolve(of);
    return node.kind === 'object' ? node.members.get(key)?.type : undefined;
  }

  member(of: TypeNode | undefined, ...keys: readonly string[]): TypeNode | undefined {
    return keys.reduce((node, key) => node && this.#at(node, key), of);
  }

  #judgeUnion(value: unknown, of: readonly TypeNode[], place: string): string[] {
    const flat = of.flatMap((node) => (node.kind === 'union' ? node.of : [node]));
    // "May be null" became "any object, or null" in the generated types: only the null is meant.
    const choices = flat.length > 2 ? flat.filter((node) => !isAnyObject(node)) : flat;
    const found = choices.map((node) => this.judge(value, node, place));
    if (found.some((wrong) => wrong.length === 0)) return [];
    return found.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }

  #judgeObject(
    value: unknown,
    { members, rest }: Extract<TypeNode, { kind: 'object' }>,
    place: string,
  ): string[] {
    if (!isObject(value)) return [`${place} is not an object`];
    const wrong: string[] = [];
    for (const [name, { type, isOptional }] of members) {
      if (value[name] !== undefined)
        wrong.push(...this.judge(value[name], type, `${place}.${name}`));
      else if (!isOptional) wrong.push(`${place}.${name} is missing`);
    }
    for (const name of Object.keys(value)) {
      if (members.has(name)) continue;
      if (rest) wrong.push(...this.judge(value[name], rest, `${place}.${name}`));
      // A real Qdrant would ignore it silently.
      else wrong.push(`${place}.${name} is unknown`);
    }
    return wrong;
  }

  #judgeMade(
    value: unknown,
    node: Extract<TypeNode, { kind: 'made' | 'at' }>,
    place: string,
  ): string[] {
    if (node.kind !== 'made') throw new Error(`${place}: a reference was not followed`);
    if (node.name === 'Record') return isObject(value) ? [] : [`${place} is not an object`];
    if (node.name === 'OneOf') {
      const [tuple] = node.of;
      return this.#judgeUnion(value, tuple?.kind === 'made' ? tuple.of : [], place);
    }
    throw new Error(`${place}: ${node.name} is not known here`);
  }
}

export class Operation {
  readonly #schema: PublishedSchema;
  readonly #node: TypeNode;

  constructor(schema: PublishedSchema, node: TypeNode) {
    this.#schema = schema;
    this.#node = node;
  }

  judgeRequest(body: unknown, query: URLSearchParams): string[] {
    const wrong: string[] = [];
    const type = this.#schema.member(this.#node, 'requestBody', 'content', 'application/json');
    if (type) wrong.push(...this.#schema.judge(body, type));
    else if (body !== undefined) wrong.push('there should be no body');
    const parameters = this.#schema.member(this.#node, 'parameters', 'query');
    for (const [name, text] of query) {
      const known = parameters && this.#schema.member(parameters, name);
      const value = /^(?:true|false|\d+)$/.test(text) ? JSON.parse(text) : text;
      if (known) wrong.push(...this.#schema.judge(value, known, name));
      else wrong.push(`the parameter ${name} is unknown`);
    }
    return wrong;
  }

  judgeAnswer(body: unknown): string[] {
    const content = ['responses', '200', 'content', 'application/json'];
    const type = this.#schema.member(this.#node, ...content);
    return type ? this.#schema.judge(body, type, 'answer') : ['there is no such response'];
  }
}

function root(name: string): TypeNode {
  return { kind: 'word', name };
}

function isAnyObject(node: TypeNode): boolean {
  return node.kind === 'made' && node.name === 'Record';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value instanceof Object && !Array.isArray(value);
}

function judgeWord(value: unknown, name: string, place: string): string[] {
  const isRight: Readonly<Record<string, boolean>> = {
    string: typeof value === 'string',
    number: typeof value === 'number' && Number.isFinite(value),
    boolean: typeof value === 'boolean',
    null: value === null,
    unknown: true,
    undefined: value === undefined,
    never: false,
  };
  if (!(name in isRight)) throw new Error(`${place}: ${name} is not known here`);
  return isRight[name] ? [] : [`${place} is not a ${name}: ${JSON.stringify(value)?.slice(0, 60)}`];
}
