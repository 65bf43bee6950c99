/** The route of how a document came to be what it is. */

import { pageOf } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { query, routes } from './row.ts';

export const runs = routes('Corpora', {
  'GET /documents/:id/items': {
    summary: 'Every time that a document was worked on, newest first',
    query: query(schema.page),
    answer: pageOf(schema.Item),
    failures: ['document_unknown', 'bad_request'],
  },
});
