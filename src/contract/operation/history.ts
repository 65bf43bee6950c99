/** The routes of events and of the inbox. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import * as schema from '../schema/schema.ts';
import { byId, corpusName, query, type Route } from './row.ts';

const after = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const eventPage = query({
  after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.event.pageMax })),
});
const streamQuery = query({ after });
const lastEventId = Type.Object({ 'last-event-id': Type.Optional(Type.String()) });

export const history = {
  'GET /jobs/:id/events': {
    group: 'History',
    summary: 'The events of a job, by cursor',
    params: byId,
    query: eventPage,
    status: 200,
    answer: schema.Events,
    failures: ['job_unknown', 'bad_request'],
  },
  'GET /events': {
    group: 'History',
    summary: 'All your events, by cursor',
    query: eventPage,
    status: 200,
    answer: schema.Events,
    failures: ['bad_request'],
  },
  'GET /jobs/:id/stream': {
    group: 'History',
    summary:
      'A job, live, until it ends: unnamed messages carry the job, one per change of its ' +
      'status; messages named `event` carry its events, by which a stream can be ' +
      'resumed. 204 when there is nothing more',
    params: byId,
    query: streamQuery,
    headers: lastEventId,
    status: 200,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['job_unknown', 'bad_request', 'too_many_streams'],
  },
  'GET /stream': {
    group: 'History',
    summary: 'All your events, live, as messages named `event`',
    query: streamQuery,
    headers: lastEventId,
    status: 200,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['bad_request', 'too_many_streams'],
  },
} as const satisfies Record<string, Route>;

export const inbox = {
  'GET /items/:id': {
    group: 'Inbox',
    summary: 'One document of a job',
    params: byId,
    status: 200,
    answer: schema.Item,
    failures: ['item_unknown'],
  },
  'GET /inbox': {
    group: 'Inbox',
    summary: 'Failed documents by cause, with advice',
    query: query({
      corpus_name: corpusName,
      cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
      ...schema.page,
    }),
    status: 200,
    answer: schema.Inbox,
    failures: ['bad_request'],
  },
  'POST /inbox/retry': {
    group: 'Inbox',
    summary: 'Retry failed documents, each from its failed step',
    body: schema.Chosen,
    status: 200,
    answer: Type.Object({ retried: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { all: true },
  },
  'POST /inbox/discard': {
    group: 'Inbox',
    summary: 'Discard failed documents',
    body: schema.Chosen,
    status: 200,
    answer: Type.Object({ discarded: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { cause: 'empty_source' },
  },
} as const satisfies Record<string, Route>;
