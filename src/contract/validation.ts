/** Validates requests against the contract. An error names the path of the wrong value. */
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { corpusNameForm } from '../engine/command/admission.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { keyHashPattern } from './schema/parts.ts';
import { checkerFor, type Wrong, wrongIn } from './wrong-value.ts';

/** What a pattern means, in words. */
const patternForms: Readonly<Record<string, string>> = {
  [limits.corpus.fullNamePattern.source]: `must be a corpus name: ${corpusNameForm}`,
  [keyHashPattern]: 'must be the hash of a key: 64 hexadecimal digits, or the first 16 of them',
};

const places: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
};

/** A value with its texts as numbers and booleans, where the schema has these. */
export type Convert = (schema: TSchema, value: unknown) => unknown;

/** In a query or a path, text is converted. In a body, it is not. */
export const validatorCompiler =
  (convert: Convert): FastifySchemaCompiler<TSchema> =>
  ({ schema, httpPart = '' }) => {
    const checker = checkerFor(schema);
    const isText = httpPart !== 'body' && !isOnlyText(schema);
    const isSpare = httpPart === 'body' && !isBodyNeeded(schema);
    return (input: unknown) => {
      // A body without required fields may be absent.
      const given = isSpare ? (input ?? {}) : input;
      const value = isText ? convert(schema, given) : given;
      if (checker.check(value)) return { value };
      const wrong = wrongIn(schema, value, checker);
      return { error: failureOf(wrong, places[httpPart] ?? httpPart) };
    };
  };

export function isBodyNeeded(schema: TSchema): boolean {
  const { required = [] } = schema as { required?: readonly string[] };
  return required.length > 0;
}

/** Text needs no conversion. */
function isOnlyText(schema: TSchema): boolean {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return Object.values(properties).every(({ type }) => type === 'string');
}

function failureOf(wrong: Wrong, place: string): Failure {
  const at = wrong.instancePath === '' ? '' : ` at ${readablePath(wrong.instancePath)}`;
  return new Failure('bad_request', `${place}${at} ${shortened(saying(wrong))}`);
}

/** A very long field name is misplaced content, so it is not repeated in the error. */
function readablePath(path: string): string {
  const names = path.slice(0, limits.request.wrongCharactersMax).split('/');
  const isShort = (name: string): boolean => name.length <= limits.request.wrongNameCharactersMax;
  return names.map((name) => (isShort(name) ? name : '…')).join('/');
}

function shortened(text: string): string {
  const { wrongCharactersMax } = limits.request;
  return text.length > wrongCharactersMax ? `${text.slice(0, wrongCharactersMax)}…` : text;
}

export function saying({ keyword, params, message }: Wrong): string {
  if (keyword === 'boolean') return 'is not a known field';
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues)) {
    return `must be one of ${params.allowedValues.join(', ')}`;
  }
  const form = keyword === 'pattern' && 'pattern' in params && patternForms[`${params.pattern}`];
  return form || message;
}
