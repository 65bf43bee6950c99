/** The route of the runs of a document. */

import { pageOf } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { byId, query, type Route } from './row.ts';

export const runs = {
  'GET /documents/:id/items': {
    group: 'Corpora',
    summary: 'All runs of a document, newest first',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: pageOf(schema.Item),
    failures: ['document_unknown', 'bad_request'],
  },
} as const satisfies Record<string, Route>;
