/** The routes of what has happened, and of what failed. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import * as schema from '../schema/schema.ts';
import { corpusName, query, routes } from './row.ts';

const after = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const eventPage = query({
  after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.event.pageMax })),
});
const streamQuery = query({ after });
const lastEventId = Type.Object({ 'last-event-id': Type.Optional(Type.String()) });

export const history = routes('History', {
  'GET /jobs/:id/events': {
    summary: 'What has happened to a job, by cursor',
    query: eventPage,
    answer: schema.Events,
    failures: ['job_unknown', 'bad_request'],
  },
  'GET /events': {
    summary: 'What has happened to all that is yours, by cursor',
    query: eventPage,
    answer: schema.Events,
    failures: ['bad_request'],
  },
  'GET /jobs/:id/stream': {
    summary:
      'A job as it moves, until it ends: messages without a name are the job, one at each change ' +
      'of its status; those named `event` are its events, by which a stream can be resumed. ' +
      '204 when there is nothing more',
    query: streamQuery,
    headers: lastEventId,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['job_unknown', 'bad_request', 'too_many_streams'],
  },
  'GET /stream': {
    summary: 'The events of all that is yours as they happen, as messages named `event`',
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
  'GET /inbox': {
    summary: 'What failed, by cause, with advice',
    query: query({
      corpus_name: corpusName,
      cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
      ...schema.page,
    }),
    answer: schema.Inbox,
    failures: ['bad_request'],
  },
  'POST /inbox/retry': {
    summary: 'Try failed documents again, each from its failed step',
    body: schema.Chosen,
    answer: Type.Object({ retried: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { all: true },
  },
  'POST /inbox/discard': {
    summary: 'Take failed documents out of the inbox for good',
    body: schema.Chosen,
    answer: Type.Object({ discarded: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { cause: 'empty_source' },
  },
});
