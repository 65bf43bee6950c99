/** The route of the runs of a document. */

import { pageOf } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { query, routes } from './row.ts';

export const runs = routes('Corpora', {
  'GET /documents/:id/items': {
    summary: 'All runs of a document, newest first',
    query: query(schema.page),
    answer: pageOf(schema.Item),
    failures: ['document_unknown', 'bad_request'],
  },
});
