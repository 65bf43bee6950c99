/** The columns of the route table, and parts that several rows share. */
import type { TSchema } from 'typebox';
import type { FailureCode } from '../../kernel/failure/failure.ts';
import { CorpusName } from '../schema/parts.ts';
import { Type } from '../schema/type.ts';

export interface Route {
  readonly group: string;
  readonly summary: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly headers?: TSchema;
  readonly status: number;
  readonly answer: TSchema;
  /** The media type of the response, if it is not JSON. */
  readonly media?: 'text/event-stream' | 'text/plain' | 'text/html' | 'application/octet-stream';
  /** Also answers HEAD, with the same headers. */
  readonly hasHead?: boolean;
  /** The media type of the request, if it is not JSON. */
  readonly takes?: 'multipart/form-data';
  /** The form fields of the request, if it is a form. */
  readonly form?: TSchema;
  /** The body has any form: the handler verifies its bytes, and nothing parses it. */
  readonly isRaw?: boolean;
  /** Requires no key and is not rate limited. */
  readonly isOpen?: boolean;
  /** Only for services of Pawl, which are not rate limited. */
  readonly isInternal?: boolean;
  readonly failures: readonly FailureCode[];
}

/** A route as its table writes it: the group, the status 200 and usual parameters are added. */
type Row = Omit<Route, 'group' | 'status'> & { readonly status?: number };

type Filled<Name, R> = R &
  Pick<Route, 'group' | 'status'> &
  (R extends { readonly params: TSchema }
    ? unknown
    : Name extends `${string}/:id${string}`
      ? { readonly params: typeof byId }
      : Name extends `${string}/:name${string}`
        ? { readonly params: typeof byName }
        : unknown);

/** The routes of one group. */
export function routes<const Rows extends Readonly<Record<string, Row>>>(
  group: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Filled<Name, Rows[Name]> } {
  const filled = Object.entries(rows).map(([name, row]) => [
    name,
    { group, status: 200, ...paramsIn(name), ...row },
  ]);
  return Object.fromEntries(filled);
}

function paramsIn(name: string): { params?: TSchema } {
  if (name.includes('/:id')) return { params: byId };
  return name.includes('/:name') ? { params: byName } : {};
}

export const byId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
export const byName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) });
export const corpusName = Type.Optional(CorpusName);
export const query = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
