/** Schemas of sources that a corpus follows, and of their runs. */
import type { Static } from 'typebox';
import { lanes } from '../../engine/command/admission.ts';
import { type RunCause, runCauses } from '../../engine/sync/start.ts';
import { syncRun } from '../../kernel/lifecycle/sync-run.ts';
import { syncSource } from '../../kernel/lifecycle/sync-source.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type ChangeKind, changeKinds } from '../../store/sync/changes.ts';
import { CorpusName, Count, closed, globs, nullable, oneOf, time } from './parts.ts';
import { Type } from './type.ts';

const paths = (description: string) =>
  Type.Optional(Type.Array(globs.items, { maxItems: limits.sync.patternsMax, description }));

const options = {
  include: paths('Only documents whose path or address matches one of these globs.'),
  exclude: paths('No document whose path or address matches one of these globs.'),
  branch: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The branch of a repository. Default: its main branch.',
    }),
  ),
  depth: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.job.crawlDepthMax,
      description: 'How many links a site is followed from its first page.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.job.crawlPagesMax,
      description: 'The most pages that a site may have.',
    }),
  ),
  endpoint: Type.Optional(
    Type.String({
      pattern: '^https?://',
      maxLength: 2000,
      description: 'The server of a bucket. Default: Amazon S3.',
    }),
  ),
  follow_links: Type.Optional(
    Type.Boolean({
      description: 'True: also read links that lead out of the folder. Default: false.',
    }),
  ),
  budget_cents: Type.Optional(
    Type.Number({ minimum: 0, description: 'The budget of a run, for all of its jobs together.' }),
  ),
  hold_above_percent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        `A run that would remove more than ${limits.sync.removedMax} documents, and more than ` +
        `this share of all, is held. Default: ${limits.sync.removedPercentMax}. ` +
        'With 100, only an empty listing is held.',
    }),
  ),
  lane: Type.Optional(oneOf(lanes)),
  priority: Type.Optional(
    Type.Integer({ minimum: limits.fairness.priorityMin, maximum: limits.fairness.priorityMax }),
  ),
};

const scheduleForm = { minLength: 1, maxLength: 200 };
const scheduleText =
  'An interval such as `15m`; two such as `15m..1d`, of which the first is doubled after each ' +
  'run without a change, up to the second; or five cron fields in UTC.';

export const NewSyncSource = Type.Object(
  {
    corpus_name: CorpusName,
    kind: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          '`folder`, `urls`, `site`, `feed`, `git`, `bucket`, or a kind that the program of the ' +
          'service has added. Default: what the location shows.',
      }),
    ),
    location: Type.String({
      minLength: 1,
      maxLength: limits.sync.locationCharactersMax,
      description:
        'Of a folder, or a file of addresses: its path on the machine of the service. Else an ' +
        'address: of a site, feed or repository, `s3://BUCKET/PREFIX`, or a list of pages.',
    }),
    name: Type.Optional(
      Type.String({
        pattern: limits.sync.namePattern.source,
        description: 'The name of the source. Default: made from the location.',
      }),
    ),
    schedule: Type.Optional(
      Type.String({ ...scheduleForm, description: `${scheduleText} Absent: on demand.` }),
    ),
    ...options,
  },
  closed,
);

export const SyncSourceUpdate = Type.Object(
  {
    schedule: Type.Optional(
      nullable(Type.String({ ...scheduleForm, description: `${scheduleText} Null: on demand.` })),
    ),
    ...options,
  },
  closed,
);

export const SyncWebhook = Type.Object({
  path: Type.String({ description: 'The path of the service that takes the messages.' }),
  secret: Type.String({ description: 'Signs the messages. It is not shown again.' }),
});

const problem = Type.Object({
  code: Type.String(),
  message: Type.String(),
  advice: Type.String(),
});

export const SyncCounts = Type.Object({
  added: Count,
  changed: Count,
  moved: Count,
  restored: Count,
  removed: Count,
  unchanged: Count,
});

export const SyncRun = Type.Object({
  run_id: Type.Integer({ description: 'The number of the run.' }),
  source: Type.String({ description: 'The name of the source.' }),
  state: oneOf(syncRun.states),
  cause: Type.Unsafe<RunCause>({ ...oneOf(runCauses), description: 'Why the run began.' }),
  is_plan: Type.Boolean({ description: 'Only finds what it would do.' }),
  listed: Type.Integer({ minimum: 0, description: 'Files that the source has.' }),
  found: SyncCounts,
  open: Type.Integer({ minimum: 0, description: 'Changes that are not applied.' }),
  job_ids: Type.Array(Type.String(), {
    description: 'The jobs that process added and changed files.',
  }),
  error: nullable(problem),
  created_at: time,
  ended_at: nullable(time),
});

export const SyncSource = Type.Object({
  name: Type.String(),
  corpus_name: Type.String(),
  kind: Type.String({ description: 'The kind of the source, such as `folder`.' }),
  location: Type.String({ description: 'Its path or address.' }),
  ...options,
  schedule: nullable(Type.String()),
  state: oneOf(syncSource.states),
  documents: Type.Integer({ minimum: 0, description: 'Documents that come from the source.' }),
  removed: Type.Integer({ minimum: 0, description: 'Documents that can be brought back.' }),
  next_run_at: nullable(time),
  webhook: nullable(
    Type.String({ description: 'The path that takes signed messages of a change.' }),
  ),
  synced_at: nullable(
    Type.String({ format: 'date-time', description: 'When the corpus last equaled the source.' }),
  ),
  error: nullable(problem),
  last_run: nullable(SyncRun),
  created_at: time,
});

export const SyncChange = Type.Object({
  kind: Type.Unsafe<ChangeKind>({ ...oneOf(changeKinds), description: 'What happened to it.' }),
  key: Type.String({ description: 'The path or address of the document in the source.' }),
  from_key: nullable(Type.String({ description: 'The path before; null if it has not moved.' })),
  document_id: nullable(Type.String()),
  evidence: Type.String({ description: 'Why it counts as such a change.' }),
  is_applied: Type.Boolean({ description: 'Whether the corpus has the change.' }),
});

export const RemovedDocument = Type.Object({
  key: Type.String({ description: 'The path or address that it had in the source.' }),
  document_id: Type.String(),
  removed_at: time,
  restorable_until: time,
});

export type SyncSource = Static<typeof SyncSource>;
export type SyncRun = Static<typeof SyncRun>;
export type SyncChange = Static<typeof SyncChange>;
export type RemovedDocument = Static<typeof RemovedDocument>;
