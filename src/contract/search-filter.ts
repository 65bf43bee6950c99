/** Search filters, in the form of the API and in the form of the search. */
import type { Static } from 'typebox';
import { limits } from '../kernel/limits/limits.ts';
import type { WhereInput } from '../kernel/metadata/read-where.ts';
import type { SearchFilter as Taken } from '../search/request.ts';
import { closed, Url } from './schema/parts.ts';
import { Type } from './schema/type.ts';

const moment = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'A time such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31.',
});

/** A condition on metadata. Its form is checked when the search is handled. */
const Where = Type.Unsafe<WhereInput>(
  Type.Union(
    [Type.String({ minLength: 1, maxLength: limits.metadata.whereCharactersMax }), Type.Object({})],
    {
      description:
        'A condition on metadata: text such as `team = "ops" and year >= 2025`, or an object ' +
        'such as `{"team": "ops", "year": {"$gte": 2025}}`. Operators: `$eq`, `$ne`, `$lt`, ' +
        '`$lte`, `$gt`, `$gte`, `$in`, `$nin`, `$exists`, `$and`, `$or`, `$not`.',
    },
  ),
);

/** A passage must match every given condition. */
export const SearchFilter = Type.Object(
  {
    document_id: Type.Optional(Type.String({ maxLength: 64 })),
    source: Type.Optional(Url),
    host: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 261,
        description: 'The host of the source, with its port unless it is the default port.',
      }),
    ),
    title: Type.Optional(Type.String({ maxLength: limits.job.titleCharactersMax })),
    heading: Type.Optional(Type.String({ maxLength: 1000 })),
    language: Type.Optional(
      Type.String({ minLength: 1, maxLength: 35, description: '`en` also matches `en-GB`.' }),
    ),
    updated_from: Type.Optional(moment),
    updated_before: Type.Optional(moment),
    where: Type.Optional(Where),
  },
  closed,
);

export type SearchFilter = Static<typeof SearchFilter>;

export function filterOf({
  document_id,
  updated_from,
  updated_before,
  ...same
}: SearchFilter): Taken {
  const times = { updatedFrom: updated_from, updatedBefore: updated_before };
  return { ...same, documentId: document_id, ...times };
}

export function filterShape({
  documentId,
  updatedFrom,
  updatedBefore,
  ...same
}: Taken): SearchFilter {
  const times = { updated_from: updatedFrom, updated_before: updatedBefore };
  return { ...same, document_id: documentId, ...times };
}
