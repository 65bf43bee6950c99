/** Checks what comes in against the contract. What is wrong is named by its path. */
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Failure } from '../kernel/failure.ts';

const places: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
};

/** Text in a query or a path may stand for a number; in a body, a number is a number. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = '' }) => {
  const validator = Compile(schema);
  const isText = httpPart !== 'body' && !isOnlyText(schema);
  return (input: unknown) => {
    const value = isText ? validator.Convert(input) : input;
    if (validator.Check(value)) return { value };
    return { error: failureOf(validator.Errors(value), places[httpPart] ?? httpPart) };
  };
};

/** Text that stands for text needs no reading. */
function isOnlyText(schema: TSchema): boolean {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return Object.values(properties).every(({ type }) => type === 'string');
}

interface Wrong {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

function failureOf(errors: readonly Wrong[], place: string): Failure {
  // What does not belong there is named before what it made of the whole.
  const wrong = errors.find(({ keyword }) => keyword !== 'additionalProperties') ?? errors[0];
  const at = wrong?.instancePath ? ` at ${wrong.instancePath}` : '';
  return new Failure('bad_request', `${place}${at} ${wrong ? saying(wrong) : 'is wrong'}`);
}

function saying({ keyword, params, message }: Wrong): string {
  if (keyword === 'boolean') return 'is not a field that is known';
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues)) {
    return `must be one of ${params.allowedValues.join(', ')}`;
  }
  return message;
}
