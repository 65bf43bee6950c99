/** What a row of the table of routes says, and the parts that several rows have. */
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
  /** What the answer is, where it is not JSON. */
  readonly media?: 'text/event-stream' | 'text/plain' | 'text/html';
  /** What comes in, where it is not JSON. */
  readonly takes?: 'multipart/form-data';
  /** The fields of what comes in, where it is a form. */
  readonly form?: TSchema;
  /** Needs no key, and is not counted. */
  readonly isOpen?: boolean;
  /** Only for services of Pawl, which are not counted. */
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
