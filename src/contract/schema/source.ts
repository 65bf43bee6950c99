/** Schemas of sources that a corpus follows, and of their runs. */
import Type, { type Static } from 'typebox';
import { lanes } from '../../engine/command/admission.ts';
import { runCauses } from '../../engine/sync/start.ts';
import { syncRun } from '../../kernel/lifecycle/sync-run.ts';
import { syncSource } from '../../kernel/lifecycle/sync-source.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { changeKinds } from '../../store/sync/changes.ts';
import { CorpusName, Count, closed, globs, nullable, oneOf, time } from './parts.ts';

const options = {
  include: Type.Optional(globs),
  exclude: Type.Optional(globs),
  follow_links: Type.Optional(Type.Boolean()),
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
    kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64, default: 'folder' })),
    location: Type.String({
      minLength: 1,
      maxLength: limits.sync.locationCharactersMax,
      description: 'Of a folder: its path on the machine of the service.',
    }),
    name: Type.Optional(Type.String({ pattern: limits.sync.namePattern.source })),
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
  run_id: Type.Integer(),
  source: Type.String(),
  state: oneOf(syncRun.states),
  cause: oneOf(runCauses),
  is_plan: Type.Boolean({ description: 'Only finds what it would do.' }),
  listed: Count,
  found: SyncCounts,
  open: Type.Integer({ minimum: 0, description: 'Changes that are not applied.' }),
  job_ids: Type.Array(Type.String()),
  error: nullable(problem),
  created_at: time,
  ended_at: nullable(time),
});

export const SyncSource = Type.Object({
  name: Type.String(),
  corpus_name: Type.String(),
  kind: Type.String(),
  location: Type.String(),
  ...options,
  schedule: nullable(Type.String()),
  state: oneOf(syncSource.states),
  documents: Count,
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
  kind: oneOf(changeKinds),
  key: Type.String(),
  from_key: nullable(Type.String()),
  document_id: nullable(Type.String()),
  evidence: Type.String(),
  is_applied: Type.Boolean(),
});

export const RemovedDocument = Type.Object({
  key: Type.String(),
  document_id: Type.String(),
  removed_at: time,
  restorable_until: time,
});

export type SyncSource = Static<typeof SyncSource>;
export type SyncRun = Static<typeof SyncRun>;
export type SyncChange = Static<typeof SyncChange>;
export type RemovedDocument = Static<typeof RemovedDocument>;
