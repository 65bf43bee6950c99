/** Callers as operators see them. */
import type { Static } from 'typebox';
import { Count } from './parts.ts';
import { Type } from './type.ts';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(part: T) =>
  Type.Union([part, Type.Null()]);

export const Caller = Type.Object({
  caller_id: Type.String(),
  name: nullable(Type.String({ description: 'The id from Membership or the list of keys.' })),
  keys: Count,
  jobs: Count,
  created_at: Type.String(),
});

export const CallerDetail = Type.Object({
  caller_id: Type.String(),
  name: nullable(Type.String()),
  created_at: Type.String(),
  identities: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('key'), Type.Literal('name'), Type.Literal('membership')]),
      subject: Type.String({ description: "A name, or the first 16 digits of a key's hash." }),
      created_at: Type.String(),
    }),
  ),
  corpora: Type.Array(Type.String(), { description: 'Its corpora, under the names that it uses.' }),
});

export type Caller = Static<typeof Caller>;
export type CallerDetail = Static<typeof CallerDetail>;
