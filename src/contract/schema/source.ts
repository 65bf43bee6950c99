/** Schemas of sources that a corpus follows, and of their runs. */
import Type, { type Static } from 'typebox';
import { lanes } from '../../engine/command/admission.ts';
import { type RunCause, runCauses } from '../../engine/sync/start.ts';
import { syncRun } from '../../kernel/lifecycle/sync-run.ts';
import { syncSource } from '../../kernel/lifecycle/sync-source.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type ChangeKind, changeKinds } from '../../store/sync/changes.ts';
import { CorpusName, Count, closed, globs, nullable, oneOf, time } from './parts.ts';

const paths = (description: string) =>
  Type.Optional(Type.Array(globs.items, { maxItems: limits.sync.patternsMax, description }));

const options = {
  include: paths('Only files whose path below the folder matches one of these globs.'),
  exclude: paths('No file whose path below the folder matches one of these globs.'),
  follow_links: Type.Optional(
    Type.Boolean({
      description: 'True: also read links that lead out of the folder. Default: false.',
    }),
  ),
  budget_cents: Type.Optional(
    Type.Number({ minimum: 0, description: 'The budget of each job that a run submits.' }),
  ),
  lane: Type.Optional(oneOf(lanes)),
  priority: Type.Optional(
    Type.Integer({ minimum: limits.fairness.priorityMin, maximum: limits.fairness.priorityMax }),
  ),
};

export const NewSyncSource = Type.Object(
  {
    corpus_name: CorpusName,
    kind: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        default: 'folder',
        description: '`folder`, or a kind that the program of the service has added.',
      }),
    ),
    location: Type.String({
      minLength: 1,
      maxLength: limits.sync.locationCharactersMax,
      description: 'Of a folder: its path on the machine of the service.',
    }),
    name: Type.Optional(
      Type.String({
        pattern: limits.sync.namePattern.source,
        description: 'The name of the source. Default: made from the location.',
      }),
    ),
    schedule: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'An interval such as `15m`, or five cron fields in UTC. Absent: on demand.',
      }),
    ),
    ...options,
  },
  closed,
);

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
  location: Type.String({ description: 'Of a folder: its path.' }),
  ...options,
  schedule: nullable(Type.String()),
  state: oneOf(syncSource.states),
  documents: Type.Integer({ minimum: 0, description: 'Documents that come from the source.' }),
  removed: Type.Integer({ minimum: 0, description: 'Documents that can be brought back.' }),
  next_run_at: nullable(time),
  synced_at: nullable(
    Type.String({ format: 'date-time', description: 'When the corpus last equaled the source.' }),
  ),
  error: nullable(problem),
  last_run: nullable(SyncRun),
  created_at: time,
});

export const SyncChange = Type.Object({
  kind: Type.Unsafe<ChangeKind>({ ...oneOf(changeKinds), description: 'What happened to it.' }),
  key: Type.String({ description: 'The path of the file below the folder.' }),
  from_key: nullable(Type.String({ description: 'The path before; null if it has not moved.' })),
  document_id: nullable(Type.String()),
  evidence: Type.String({ description: 'Why it counts as such a change.' }),
  is_applied: Type.Boolean({ description: 'Whether the corpus has the change.' }),
});

export const RemovedDocument = Type.Object({
  key: Type.String({ description: 'The path that the file had below the folder.' }),
  document_id: Type.String(),
  removed_at: time,
  restorable_until: time,
});

export type SyncSource = Static<typeof SyncSource>;
export type SyncRun = Static<typeof SyncRun>;
export type SyncChange = Static<typeof SyncChange>;
export type RemovedDocument = Static<typeof RemovedDocument>;
