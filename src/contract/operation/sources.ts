/** The routes of sources that a corpus follows. */

import { runCauses } from '../../engine/sync/start.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { changeKinds } from '../../store/sync/changes.ts';
import { Count, closed, oneOf, page, pageOf } from '../schema/parts.ts';
import {
  NewSyncSource,
  RemovedDocument,
  SyncChange,
  SyncRun,
  SyncSource,
  SyncSourceUpdate,
  SyncWebhook,
} from '../schema/source.ts';
import { Type } from '../schema/type.ts';
import { byName, query, routes } from './row.ts';

const byRun = Type.Object({
  ...byName.properties,
  run: Type.String({ pattern: '^[0-9]{1,15}$' }),
});
const unknown = ['sync_source_unknown'] as const;
const refused = ['sync_source_unknown', 'action_not_allowed'] as const;

export const sources = routes('Sources', {
  'GET /sources': {
    summary: 'The places that your corpora follow, by name',
    answer: Type.Object({ items: Type.Array(SyncSource) }),
    failures: [],
  },
  'POST /sources': {
    summary: 'Follow a place: its documents are added, changed, renamed and removed with it',
    body: NewSyncSource,
    status: 201,
    answer: SyncSource,
    failures: ['bad_request', 'forbidden', 'source_missing', 'source_unreadable', 'corpus_unknown'],
  },
  'GET /sources/:name': {
    summary: 'One source, with its last run',
    answer: SyncSource,
    failures: unknown,
  },
  'PATCH /sources/:name': {
    summary: 'Change the schedule and the options of a source',
    body: SyncSourceUpdate,
    answer: SyncSource,
    failures: [...unknown, 'bad_request'],
  },
  'POST /sources/:name/webhook': {
    summary: 'Give a source an address whose signed messages start a run, with a new secret',
    status: 201,
    answer: SyncWebhook,
    failures: unknown,
  },
  'DELETE /sources/:name/webhook': {
    summary: 'Close the address whose messages start a run',
    answer: SyncSource,
    failures: unknown,
  },
  'POST /hooks/:hook': {
    isOpen: true,
    isRaw: true,
    summary: 'A signed message that a source has changed: starts a run',
    params: Type.Object({ hook: Type.String({ minLength: 1, maxLength: 64 }) }),
    status: 202,
    answer: Type.Object({ accepted: Type.Literal(true) }),
    failures: ['forbidden', 'action_not_allowed', 'payload_too_large'],
  },
  'DELETE /sources/:name': {
    summary: 'Stop following a source; its documents stay',
    answer: Type.Object({ name: Type.String(), removed: Type.Literal(true) }),
    failures: refused,
  },
  'POST /sources/:name/run': {
    summary: 'Compare a source with its corpus now; with `plan`, only find what would be done',
    body: Type.Object(
      {
        plan: Type.Optional(
          Type.Boolean({
            description: 'True: only find what would be done, and change nothing. Default: false.',
          }),
        ),
        cause: Type.Optional(oneOf(runCauses)),
      },
      closed,
    ),
    status: 202,
    answer: SyncRun,
    failures: [...refused, 'bad_request'],
  },
  'POST /sources/:name/pause': {
    summary: 'Pause a source: it has no runs until it is resumed',
    answer: SyncSource,
    failures: refused,
  },
  'POST /sources/:name/resume': {
    summary: 'Resume a source; times that it missed are run once',
    answer: SyncSource,
    failures: refused,
  },
  'POST /sources/:name/apply': {
    summary: 'Apply the removals that the run of a source holds back',
    answer: SyncRun,
    failures: refused,
  },
  'POST /sources/:name/ignore': {
    summary: 'Keep the documents that the run of a source would remove',
    answer: SyncRun,
    failures: refused,
  },
  'GET /sources/:name/removed': {
    summary: 'Removed documents that can be brought back, newest first',
    query: query({ limit: page.limit }),
    answer: Type.Object({ items: Type.Array(RemovedDocument) }),
    failures: [...unknown, 'bad_request'],
  },
  'POST /sources/:name/restore': {
    summary: 'Bring removed documents back: those with these keys, or all',
    body: Type.Object(
      {
        keys: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            maxItems: limits.request.pageItemsMax,
            description: 'Keys from `GET /sources/:name/removed`. Default: all of them.',
          }),
        ),
      },
      closed,
    ),
    answer: Type.Object({ restored: Count }),
    failures: [...unknown, 'bad_request'],
  },
  'GET /sources/:name/runs': {
    summary: 'The runs of a source, newest first',
    query: query(page),
    answer: pageOf(SyncRun),
    failures: [...unknown, 'bad_request'],
  },
  'GET /sources/:name/runs/:run': {
    summary: 'One run of a source',
    params: byRun,
    answer: SyncRun,
    failures: [...unknown, 'sync_run_unknown'],
  },
  'GET /sources/:name/runs/:run/changes': {
    summary: 'What a run found, each with its evidence',
    params: byRun,
    query: query({ ...page, kind: Type.Optional(oneOf(changeKinds)) }),
    answer: pageOf(SyncChange),
    failures: [...unknown, 'sync_run_unknown', 'bad_request'],
  },
});
