/** The routes of callers: who is who, for operators with the internal key. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import * as schema from '../schema/schema.ts';
import { query, routes } from './row.ts';

const id = Type.String({ minLength: 1, maxLength: limits.key.callerIdCharactersMax + 8 });
const byCaller = Type.Object({ id });
const byKey = Type.Object({
  id,
  hash: Type.String({
    pattern: '^(sha256:)?([0-9a-fA-F]{64}|[0-9a-fA-F]{16})$',
    description: 'The hash of the key, or its first 16 digits. Never the key itself.',
  }),
});
const confirm = query({
  confirm: Type.Optional(
    Type.Literal('true', { description: 'Do it even where it cannot be taken back.' }),
  ),
});

export const callers = routes('Callers', {
  'GET /callers': {
    summary: 'All callers, by id',
    query: query(schema.page),
    answer: schema.pageOf(schema.Caller),
    isInternal: true,
    failures: ['bad_request', 'forbidden'],
  },
  'GET /callers/:id': {
    summary: 'One caller: what leads to it, and what it owns',
    params: byCaller,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden'],
  },
  'PUT /callers/:id/keys/:hash': {
    summary: 'Let a key lead to this caller, as when it is rotated',
    params: byKey,
    query: confirm,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
  },
  'DELETE /callers/:id/keys/:hash': {
    summary: 'Let a key lead to this caller no longer',
    params: byKey,
    query: confirm,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
  },
  'POST /callers/:id/move': {
    summary: 'Give what a caller owns, or one corpus of it, to another',
    params: byCaller,
    body: Type.Object(
      { to: id, corpus_name: Type.Optional(schema.CorpusName) },
      { additionalProperties: false },
    ),
    answer: Type.Object({ from: Type.String(), to: Type.String(), corpora: schema.Count }),
    isInternal: true,
    failures: ['caller_unknown', 'corpus_unknown', 'forbidden', 'bad_request'],
  },
});
