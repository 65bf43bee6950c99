/** The manual of jobs, webhooks, events and the inbox. */
import type { Manual } from './manual.ts';
import {
  acceptedJob,
  at,
  cause,
  delivery,
  event,
  failedItem,
  heldRun,
  item,
  job,
  jobDetail,
  jobId,
} from './samples.ts';

const params = { id: jobId };
const moved = { job_id: jobId, state: 'queued' };
const accepted =
  'The job is on disk when its id is returned. Its documents are processed in the ' +
  'background: read `GET /jobs/:id`, or follow `GET /jobs/:id/stream`. ';
const keyed =
  'With an `Idempotency-Key`, a repeated request returns the first job instead of a second one.';
const streamed =
  'Server-sent events. To resume, send the `id` of the last message as `Last-Event-ID` or as ' +
  '`after`: no event is lost or repeated. A comment is sent every 15 seconds. `EventSource` ' +
  'cannot send a key; use `fetch`, or the client of this package.';

export const jobsManual: Readonly<Record<string, Manual>> = {
  'POST /jobs': {
    description:
      'Adds documents to a corpus, which is created if it does not exist. Give exactly one of ' +
      '`url`, `urls`, `documents` (text, HTML or Markdown in the request) and `crawl` (a site). ' +
      `${accepted}A document with the same id or address replaces the earlier one. ${keyed}`,
    headers: { 'idempotency-key': 'welcome-2026-03-02' },
    body: {
      corpus_name: 'handbook',
      documents: [{ id: 'welcome', title: 'Welcome', text: 'The workshop opens at nine.' }],
    },
    answer: { ...acceptedJob, url_count: 1 },
  },
  'POST /jobs/upload': {
    description:
      'Adds files to a corpus: a multipart form with `corpus_name` and any number of fields ' +
      '`file`. The name of a file becomes the source `upload:NAME`; a later upload under the ' +
      `same name replaces the document. ${accepted}${keyed}`,
    headers: { 'idempotency-key': 'files-2026-03-02' },
    form: { corpus_name: 'handbook', file: ['(the bytes of welcome.pdf)'] },
    answer: { ...acceptedJob, url_count: 1 },
  },
  'GET /jobs': {
    description:
      'Lists your jobs, newest first, optionally of one corpus or in one state. Lists come in ' +
      'pages: pass `next_cursor` as `cursor` until it is null. `group` and `text` list what a ' +
      'person looks for.',
    query: { corpus_name: 'handbook', state: 'succeeded', limit: 20 },
    answer: { items: [job], next_cursor: null },
  },
  'GET /jobs/:id': {
    description:
      'Shows how far a job is: its state, the number of documents that are done, failed and ' +
      'waiting, its cost, and the causes of failures with advice. `state` is `succeeded`, ' +
      '`failed` or `canceled` at the end; `partial` says that some documents failed.',
    params,
    answer: jobDetail,
  },
  'GET /jobs/:id/items': {
    description:
      'Lists the documents of a job in the order of submission. `explanation` is a sentence ' +
      'that says where the document is, why, and what happens next. With `state`, a page may be ' +
      'short or empty although more follow: read on while `next_cursor` is not null.',
    params,
    query: { limit: 50 },
    answer: { items: [item, failedItem], next_cursor: null },
  },
  'POST /jobs/:id/cancel': {
    description:
      'Cancels the documents of a job that have not finished. Finished documents stay ' +
      'searchable. Returns a receipt: what was stopped, what was kept, what had been spent. ' +
      '`POST /jobs/:id/retry` continues a canceled job.',
    params,
    answer: {
      job_id: jobId,
      state: 'canceled',
      canceled_at: at,
      stopped: { items: 1 },
      kept: { items: 1, documents: 1, chunks: 1 },
      spent: { cost_cents: 0, tokens: { in: 0, out: 0 } },
    },
  },
  'POST /jobs/:id/pause': {
    description:
      'Pauses a job: no further step of it starts until `POST /jobs/:id/resume`. The clock of ' +
      '`max_wall_seconds` stops as well.',
    params,
    answer: { ...moved, state: 'paused' },
  },
  'POST /jobs/:id/resume': {
    description:
      'Continues a paused job. A job that was paused by its budget needs a higher ' +
      '`budget_cents`.',
    params,
    body: { budget_cents: 250 },
    answer: moved,
  },
  'POST /jobs/:id/retry': {
    description:
      'Retries the failed and canceled documents of a job, each from the step where it ' +
      'stopped. Completed steps are not repeated, and not paid again.',
    params,
    answer: { ...moved, items_retried: 1 },
  },
  'GET /jobs/:id/deliveries': {
    description: 'Lists the webhook messages of a job, with the result of the last try of each.',
    params,
    query: { limit: 20 },
    answer: { items: [delivery], next_cursor: null },
  },
  'POST /jobs/:id/deliveries/:delivery/replay': {
    description:
      'Sends a webhook message again, with the same `webhook-id`, so that a receiver can ' +
      'recognize the repetition.',
    params: { ...params, delivery: 'msg_2b0c7f6a' },
    answer: { ...delivery, state: 'pending', next_try_at: at },
  },
  'GET /webhooks/secret': {
    description:
      'Returns the secret that signs your webhook messages, in the form of Standard Webhooks. ' +
      'Verify the header `webhook-signature` with it.',
    answer: { secret: 'whsec_oitSJ63+c/1xG5HenBtIpV5Qt8MG1ppvfxiioTnueQU=' },
  },
  'GET /jobs/:id/events': {
    description:
      'Reads the history of a job by cursor: pass `last_seq` as `after` to read on. The history ' +
      'is complete, and every event has a sequence number. With `before`, the newest events come ' +
      'first, and `last_seq` is the next `before`.',
    params,
    query: { after: 0, limit: 100 },
    answer: { items: [event], last_seq: 1, newest_seq: 1, has_more: false },
  },
  'GET /events': {
    description: 'Reads the history of all your jobs by cursor: pass `last_seq` as `after`.',
    query: { after: 0, limit: 100 },
    answer: { items: [event], last_seq: 1, newest_seq: 1, has_more: false },
  },
  'GET /jobs/:id/stream': {
    description:
      'Follows one job until it ends. Unnamed messages carry the job, one per change of its ' +
      `status; messages named \`event\` carry its events. ${streamed}`,
    params,
    query: { after: 0 },
    headers: { 'last-event-id': '1' },
    answer: `id: 1\nevent: event\ndata: ${JSON.stringify(event)}\n\n`,
  },
  'GET /stream': {
    description: `Follows all your jobs, from now on. ${streamed}`,
    query: { after: 0 },
    headers: { 'last-event-id': '1' },
    answer: `id: 1\nevent: event\ndata: ${JSON.stringify(event)}\n\n`,
  },
  'GET /items/:id': {
    description: 'Shows one document of a job: its step, its error, its cost and an explanation.',
    params: { id: '1' },
    answer: item,
  },
  'GET /items/:id/events': {
    description:
      'Reads the history of one document by cursor: each step with its start, result and cost, ' +
      'and every retry. It takes the same time in a job of any size.',
    params: { id: '1' },
    query: { after: 0, limit: 100 },
    answer: { items: [event], last_seq: 1, newest_seq: 1, has_more: false },
  },
  'GET /inbox': {
    description:
      'Lists the documents that failed, grouped by cause, each cause with advice. Failed ' +
      'documents stay here until they are retried or discarded. `held` lists the runs of sources ' +
      'whose removals wait for `POST /sources/:name/apply` or `POST /sources/:name/ignore`.',
    query: { corpus_name: 'handbook', cause: 'empty_source', limit: 20 },
    answer: { causes: [cause], items: [failedItem], held: [heldRun], next_cursor: null },
  },
  'POST /inbox/retry': {
    description:
      'Retries failed documents, each from its failed step. Give exactly one of `item_ids`, ' +
      '`cause` and `all`; `corpus_name` limits the choice to one corpus.',
    body: { all: true },
    answer: { retried: 1 },
  },
  'POST /inbox/discard': {
    description:
      'Removes failed documents from the inbox for good. Give exactly one of `item_ids`, ' +
      '`cause` and `all`; `corpus_name` limits the choice to one corpus.',
    body: { cause: 'empty_source' },
    answer: { discarded: 1 },
  },
};
