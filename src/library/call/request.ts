/** Options of the library as a request of the contract: renamed, then validated by its schema. */
import type { TSchema } from 'typebox';
import { saying } from '../../contract/validation.ts';
import { wrongIn } from '../../contract/wrong-value.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { branchOf, camelKey } from './camel.ts';
import { checkObject, unknownName } from './names.ts';

export type Validator = Parameters<typeof wrongIn>[2];

export interface Asked {
  /** The call, for messages: `search`. */
  readonly what: string;
  /** The options as the user gave them. */
  readonly given: unknown;
  /** Fields of the request that are arguments of the call. They are not options. */
  readonly fixed?: Readonly<Record<string, unknown>> | undefined;
  /** Options that are not part of the request. */
  readonly own?: readonly string[] | undefined;
}

/** The request under the names of the contract. Unknown names and wrong values are refused. */
export function requestOf(
  schema: TSchema,
  { what, given, fixed = {}, own = [] }: Asked,
  validatorOf: (schema: TSchema) => Validator,
): Record<string, unknown> {
  const options = checkObject(what, given);
  const renaming = { what, hidden: Object.keys(fixed), own };
  const request = { ...(renamedBack(schema, options, renaming) as object), ...definedOf(fixed) };
  const validator = validatorOf(schema);
  if (validator.check(request)) return request;
  const wrong = wrongIn(schema, request, validator);
  const [, ...path] = wrong.instancePath.split('/').map(nameOf);
  const name = path.length === 0 ? `the options of ${what}` : path.join('.');
  throw new Failure('bad_request', `${name} ${saying(wrong)}`, { context: { option: name } });
}

interface Renaming {
  readonly what: string;
  readonly hidden: readonly string[];
  readonly own: readonly string[];
}

/** A record has no defined fields, so its keys stay as they are. */
function renamedBack(schema: TSchema, value: unknown, { what, hidden, own }: Renaming): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const described = branchOf(schema, value);
  const { items, properties, additionalProperties } = described;
  const deeper = (name: string): Renaming => ({ what: `${what}.${name}`, hidden: [], own: [] });
  if (Array.isArray(value)) {
    if (!items) return value;
    return value.map((entry, index) => renamedBack(items, entry, deeper(String(index))));
  }
  if (!properties) return value;
  const keys = Object.keys(properties).filter((key) => !hidden.includes(key));
  const known = new Map(keys.map((key) => [nameOf(key), key]));
  const entries = Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    if (each === undefined || own.includes(name)) return [];
    const key = known.get(name);
    const property = key === undefined ? undefined : properties[key];
    if (key !== undefined && property) return [[key, renamedBack(property, each, deeper(name))]];
    if (additionalProperties === false) throw unknownName(what, name, [...known.keys(), ...own]);
    return [[name, each]];
  });
  return Object.fromEntries(entries);
}

/** The library's name of a field in a request. */
export function nameOf(key: string): string {
  return key === 'corpus_name' ? 'corpus' : camelKey(key);
}

function definedOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}
