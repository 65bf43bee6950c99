/** The routes of callers and their keys, for operators with the internal key. */

import { limits } from '../../kernel/limits/limits.ts';
import { keyHashPattern } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { query, routes } from './row.ts';

const id = Type.String({ minLength: 1, maxLength: limits.key.callerIdCharactersMax + 8 });
const byCaller = Type.Object({ id });
const byKey = Type.Object({
  id,
  hash: Type.String({
    pattern: keyHashPattern,
    description: 'The hash of the key, or its first 16 digits. Never the key itself.',
  }),
});
const confirm = query({
  confirm: Type.Optional(
    Type.Literal('true', { description: 'Confirms a change that cannot be undone.' }),
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
    summary: 'One caller: its keys, and what it owns',
    params: byCaller,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden'],
  },
  'PUT /callers/:id/keys/:hash': {
    summary: 'Link a key to this caller, for example to rotate keys',
    params: byKey,
    query: confirm,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
  },
  'DELETE /callers/:id/keys/:hash': {
    summary: 'Unlink a key from this caller',
    params: byKey,
    query: confirm,
    answer: schema.CallerDetail,
    isInternal: true,
    failures: ['caller_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
  },
  'POST /callers/:id/move': {
    summary: 'Move everything that a caller owns, or one corpus, to another caller',
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
