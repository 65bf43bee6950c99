/** The routes of the interactive attempt and its staged sources. */
import type { Static } from 'typebox';
import { sourceStatuses } from '../../attempt/view.ts';
import { attempt as attemptMachine, phaseTable } from '../../kernel/lifecycle/attempt.ts';
import { limits } from '../../kernel/limits/limits.ts';
import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { routes } from './row.ts';

const { oneOf, Count: count } = schema;
const text = Type.String();
const textOrNull = Type.Union([text, Type.Null()]);
const countOrNull = Type.Union([count, Type.Null()]);

export const Attempt = Type.Object({
  status: oneOf(attemptMachine.states),
  phase: oneOf(phaseTable.map(({ phase }) => phase)),
  attempt_id: textOrNull,
  staged_work_remaining: Type.Boolean(),
  actions: Type.Array(oneOf(attemptMachine.actions)),
  safe_to_leave: Type.Boolean({ description: 'Whether the page can be left without losses.' }),
  corpus_name: textOrNull,
  draft: Type.Boolean({ description: 'The corpus is created with the commit, or not at all.' }),
  sources: Type.Union([
    Type.Object({
      total: count,
      checked: count,
      parsed: count,
      split: count,
      skipped: count,
      failed: count,
    }),
    Type.Null(),
  ]),
  job_id: Type.Union([text, Type.Null()], {
    description: 'The job that indexes the committed documents.',
  }),
  trouble: Type.Union([Type.Object({ code: text, message: text }), Type.Null()], {
    description: 'Why the attempt was paused automatically.',
  }),
  occupied: Type.Boolean({
    description: 'Other callers have so many open attempts that this one has to wait.',
  }),
});

export const Staged = Type.Object({
  id: text,
  kind: oneOf(['upload', 'file', 'url']),
  name: text,
  corpus_name: Type.Union([text, Type.Null()], {
    description: 'The corpus it was staged for; null until an attempt starts.',
  }),
  bytes: countOrNull,
  media_type: textOrNull,
  status: oneOf(sourceStatuses),
  plan: Type.Union([oneOf(['add', 'replace', 'skip', 'refuse']), Type.Null()]),
  explanation: text,
  chunks: countOrNull,
  code: textOrNull,
});

export type Attempt = Static<typeof Attempt>;
export type Staged = Static<typeof Staged>;

export const attemptContract = routes('Attempt', {
  'GET /attempt': {
    summary: 'The state of the interactive ingestion of this process',
    answer: Attempt,
    failures: [],
  },
  'POST /attempt/start': {
    summary: 'Start with everything that you have staged for this corpus or for none',
    body: Type.Object({ corpus_name: schema.CorpusName }, { additionalProperties: false }),
    status: 202,
    answer: Attempt,
    failures: ['bad_request', 'sources_empty', 'action_not_allowed', 'corpus_unknown'],
  },
  'POST /attempt/stop': {
    summary: 'Ask the attempt to stop; it is paused after the running steps',
    status: 202,
    answer: Attempt,
    failures: ['action_not_allowed'],
  },
  'POST /attempt/resume': {
    summary: 'Resume a paused attempt',
    status: 202,
    answer: Attempt,
    failures: ['action_not_allowed'],
  },
  'GET /staging': {
    summary: 'Your staged sources, each with its result',
    answer: schema.pageOf(Staged),
    failures: [],
  },
  'POST /staging': {
    summary: 'Stage files, addresses (fields `url`) and, without API keys, paths (fields `path`)',
    takes: 'multipart/form-data',
    form: Type.Object({
      corpus_name: Type.Optional(schema.CorpusName),
      file: Type.Optional(schema.Files),
      url: Type.Optional(Type.Array(schema.Url)),
      path: Type.Optional(Type.Array(text)),
    }),
    status: 201,
    answer: Type.Object({ items: Type.Array(Staged) }),
    failures: [
      'bad_request',
      'invalid_url',
      'source_too_large',
      'payload_too_large',
      'too_many_sources',
      'sources_empty',
      'source_missing',
      'source_unreadable',
      'forbidden',
      'corpus_unknown',
    ],
  },
  'DELETE /staging': {
    summary: 'Remove staged sources: the ids in `id`, separated by commas; or all',
    query: Type.Object(
      { id: Type.Optional(Type.String({ minLength: 1, maxLength: idCharactersMax() })) },
      { additionalProperties: false },
    ),
    answer: Type.Object({ removed: count }),
    failures: ['bad_request', 'source_unknown', 'action_not_allowed'],
  },
});

/** The maximum number of staged ids, each of sixteen characters and a comma. */
function idCharactersMax(): number {
  return limits.attempt.sourcesMax * 17;
}
