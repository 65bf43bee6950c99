/** The routes of events and of the inbox. */

import { limits } from '../../kernel/limits/limits.ts';
import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { corpusName, query, routes } from './row.ts';

const after = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const eventPage = query({
  after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.event.pageMax })),
});
const jobEventPage = query({
  ...eventPage.properties,
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only events before this number, newest first. Not together with `after`.',
    }),
  ),
});
const streamQuery = query({ after });
const lastEventId = Type.Object({ 'last-event-id': Type.Optional(Type.String()) });

export const history = routes('History', {
  'GET /jobs/:id/events': {
    summary: 'The events of a job, by cursor, in either direction',
    query: jobEventPage,
    answer: schema.Events,
    failures: ['job_unknown', 'bad_request'],
  },
  'GET /events': {
    summary: 'All your events, by cursor',
    query: eventPage,
    answer: schema.Events,
    failures: ['bad_request'],
  },
  'GET /jobs/:id/stream': {
    summary:
      'A job, live, until it ends: unnamed messages carry the job, one per change of its ' +
      'status; messages named `event` carry its events, by which a stream can be ' +
      'resumed. 204 when there is nothing more',
    query: streamQuery,
    headers: lastEventId,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['job_unknown', 'bad_request', 'too_many_streams'],
  },
  'GET /stream': {
    summary: 'All your events, live, as messages named `event`',
    query: streamQuery,
    headers: lastEventId,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['bad_request', 'too_many_streams'],
  },
});

export const inbox = routes('Inbox', {
  'GET /items/:id': {
    summary: 'One document of a job',
    answer: schema.Item,
    failures: ['item_unknown'],
  },
  'GET /items/:id/events': {
    summary: 'The events of one document of a job, by cursor',
    query: eventPage,
    answer: schema.Events,
    failures: ['item_unknown', 'bad_request'],
  },
  'GET /inbox': {
    summary: 'Failed documents by cause, with advice',
    query: query({
      corpus_name: corpusName,
      cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
      ...schema.page,
    }),
    answer: schema.Inbox,
    failures: ['bad_request'],
  },
  'POST /inbox/retry': {
    summary: 'Retry failed documents, each from its failed step',
    body: schema.Chosen,
    answer: Type.Object({ retried: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
  },
  'POST /inbox/discard': {
    summary: 'Discard failed documents',
    body: schema.Chosen,
    answer: Type.Object({ discarded: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
  },
});
