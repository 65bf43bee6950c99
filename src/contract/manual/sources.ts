/** The manual of sources that a corpus follows. */
import type { Manual } from './manual.ts';
import { at, documentId, heldRun, syncRun } from './samples.ts';

const params = { name: 'docs' };
const byRun = { ...params, run: '1' };
const nextAt = '2026-03-02T09:15:00.000Z';

const hook = '/hooks/0198c1d2-7b7e-7c1a-9d2e-3f4a5b6c7d8e';

const source = {
  name: 'docs',
  corpus_name: 'handbook',
  kind: 'folder',
  location: '/srv/docs',
  exclude: ['drafts/**'],
  schedule: '15m',
  state: 'active',
  documents: 2,
  removed: 0,
  next_run_at: nextAt,
  webhook: null,
  synced_at: syncRun.ended_at,
  error: null,
  last_run: syncRun,
  created_at: at,
};
const started = {
  ...syncRun,
  state: 'listing',
  cause: 'request',
  listed: 0,
  found: { added: 0, changed: 0, moved: 0, restored: 0, removed: 0, unchanged: 0 },
  job_ids: [],
  ended_at: null,
};
const moved = {
  kind: 'moved',
  key: 'guide/welcome.md',
  from_key: 'welcome.md',
  document_id: documentId,
  evidence: 'its content has the hash of a document whose file is gone',
  is_applied: true,
};

export const sourcesManual: Readonly<Record<string, Manual>> = {
  'GET /sources': {
    description:
      'Lists your sources by name, each with its state, its schedule and its last run. `error` ' +
      'says why a source is `failing`, and what to do. A source is a place that a corpus ' +
      'follows, such as a folder.',
    answer: { items: [source] },
  },
  'POST /sources': {
    description:
      'Makes a corpus follow a folder: each run adds new files, indexes changed files again, ' +
      'renames the documents of moved files and removes those of deleted files. Without a ' +
      '`schedule`, the source runs only on `POST /sources/:name/run`. The same location of the ' +
      'same corpus is one source: a repeated request changes its schedule and options. Only the ' +
      'owner of a corpus may; folders are accepted only where no API keys are configured.',
    body: {
      corpus_name: 'handbook',
      location: '/srv/docs',
      name: 'docs',
      schedule: '15m',
      exclude: ['drafts/**'],
    },
    answer: { ...source, documents: 0, synced_at: null, last_run: null },
  },
  'GET /sources/:name': {
    description:
      'Shows one source: its state, the number of its documents, when it runs next, and its ' +
      'last run. `synced_at` is the last time at which the corpus equaled the source.',
    params,
    answer: source,
  },
  'DELETE /sources/:name': {
    description:
      'Stops following a source, and cancels its run. Its documents stay in the corpus, where ' +
      '`DELETE /documents/:id` deletes them. To stop for a while, use `POST /sources/:name/pause`.',
    params,
    answer: { name: 'docs', removed: true },
  },
  'PATCH /sources/:name': {
    description:
      'Changes the schedule and the options of a source. What the request does not name stays as ' +
      'it is; a `schedule` of null makes the source run on demand. The location, the kind and ' +
      'the corpus cannot be changed: remove the source and add another one.',
    params,
    body: { schedule: '15m..1d' },
    answer: { ...source, schedule: '15m..1d' },
  },
  'POST /sources/:name/webhook': {
    description:
      'Gives a source an address, `POST /hooks/:hook`, whose signed messages start a run, and ' +
      'the secret that signs them. The secret is shown once. A repeated call replaces both.',
    params,
    answer: { path: hook, secret: 'whsec_3b7DgkSd9l0Qm2pU8vXw1nRf5tYh6jKc4aEz0sBq1oI=' },
  },
  'DELETE /sources/:name/webhook': {
    description:
      'Closes the address whose messages start a run. `POST /sources/:name/webhook` gives the ' +
      'source another one.',
    params,
    answer: source,
  },
  'POST /hooks/:hook': {
    description:
      'Says that a source has changed, and starts a run of it. A burst of messages is one run. ' +
      'The request needs no key: it is signed with the secret of the source, either as in ' +
      'Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`) or as git ' +
      'hosts do (`x-hub-signature-256`). The body may be anything. A wrong signature, an old ' +
      'time and a repeated message are refused.',
    params: { hook: hook.slice('/hooks/'.length) },
    answer: { accepted: true },
  },
  'POST /sources/:name/run': {
    description:
      'Starts a run, which compares the source with its corpus, and returns it immediately: ' +
      'read `GET /sources/:name/runs/:run` until it has ended. With `plan`, the run only finds ' +
      'what it would do. If a run is in progress, it is returned, and another one follows it. ' +
      'A held run is replaced. A paused source is refused: resume it first.',
    params,
    body: { plan: true },
    answer: { ...started, is_plan: true },
  },
  'POST /sources/:name/pause': {
    description:
      'Pauses a source, and cancels its run: none starts until `POST /sources/:name/resume`. Its ' +
      'documents stay searchable.',
    params,
    answer: { ...source, state: 'paused', next_run_at: null },
  },
  'POST /sources/:name/resume': {
    description:
      'Resumes a paused source. With a schedule, one run starts now, for all times that passed ' +
      'during the pause.',
    params,
    answer: { ...source, next_run_at: at },
  },
  'POST /sources/:name/apply': {
    description:
      'Applies the removals that a held run waits with. A run is held if it would remove an ' +
      'unusual share of the documents: a disk may not be mounted. Check them first, with ' +
      '`GET /sources/:name/runs/:run/changes` and `kind=removed`. Removed documents can be ' +
      'brought back for 7 days.',
    params,
    answer: { ...heldRun, state: 'applying' },
  },
  'POST /sources/:name/ignore': {
    description:
      'Ends a held run without its removals: the documents stay in the corpus until their files ' +
      'are back. `POST /sources/:name/apply` removes them instead.',
    params,
    answer: { ...heldRun, state: 'applying' },
  },
  'GET /sources/:name/removed': {
    description:
      'Lists the documents that runs of this source removed and that can still be brought ' +
      'back, newest first. Pass their keys to `POST /sources/:name/restore`.',
    params,
    query: { limit: 20 },
    answer: {
      items: [
        {
          key: 'guide/old.md',
          document_id: documentId,
          removed_at: at,
          restorable_until: '2026-03-09T09:00:00.000Z',
        },
      ],
    },
  },
  'POST /sources/:name/restore': {
    description:
      'Brings removed documents back into the corpus, without fetching or embedding them again. ' +
      'They stay, although their files are gone. Returns how many were brought back.',
    params,
    body: { keys: ['guide/old.md'] },
    answer: { restored: 1 },
  },
  'GET /sources/:name/runs': {
    description:
      'Lists the runs of a source, newest first, each with the number of changes that it found.',
    params,
    query: { limit: 20 },
    answer: { items: [heldRun, syncRun], next_cursor: null },
  },
  'GET /sources/:name/runs/:run': {
    description:
      'Shows one run: its state, what it found, and the jobs that process its documents. A run ' +
      'ends as `succeeded`, `partial` (a part could not be listed, and nothing was removed), ' +
      '`failed` or `canceled`. `held` means that its removals wait for a decision.',
    params: byRun,
    answer: syncRun,
  },
  'GET /sources/:name/runs/:run/changes': {
    description:
      'Lists what a run found, each with the evidence for it, optionally of one kind. Unchanged ' +
      'files are counted in the run, not listed.',
    params: byRun,
    query: { kind: 'moved', limit: 50 },
    answer: { items: [moved], next_cursor: null },
  },
};
