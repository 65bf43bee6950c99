/** The columns of the route table, and parts that several rows share. */
import Type, { type TSchema } from 'typebox';
import type { FailureCode } from '../../kernel/failure/failure.ts';
import { CorpusName } from '../schema/parts.ts';

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
  readonly media?: 'text/event-stream' | 'text/plain' | 'text/html';
  /** The media type of the request, if it is not JSON. */
  readonly takes?: 'multipart/form-data';
  /** The form fields of the request, if it is a form. */
  readonly form?: TSchema;
  /** Requires no key and is not rate limited. */
  readonly isOpen?: boolean;
  /** Only for services of Pawl, which are not rate limited. */
  readonly isInternal?: boolean;
  readonly failures: readonly FailureCode[];
  /** Shown in the documentation, and sent to a running server by a test. */
  readonly example?: unknown;
}

export const byId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
export const byName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) });
export const corpusName = Type.Optional(CorpusName);
export const query = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
