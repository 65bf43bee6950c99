/** The manual of batch tasks, the interactive import and the single services. */
import type { Manual } from './manual.ts';
import { at, jobId, text } from './samples.ts';

const taskId = '7d0b4a3e-52d6-4f0e-9a77-0d1a9a0f2a11';
const task = {
  task_id: taskId,
  task_type: 'completion',
  provider: 'openai',
  status: 'IN_PROGRESS',
  state: 'in_progress',
  provider_state: null,
  invalid_urls: [],
  output: null,
  error: null,
  waiting: null,
  results_ok: 0,
  results_failed: 0,
  tokens: { in: 0, out: 0 },
  cost: null,
  poll_errors: 0,
  next_at: at,
  actions: ['cancel'],
  created_at: at,
  submitted_at: at,
  ended_at: null,
};

const idle = {
  status: 'idle',
  phase: 'not_started',
  attempt_id: null,
  staged_work_remaining: true,
  actions: ['start'],
  safe_to_leave: true,
  corpus_name: null,
  draft: false,
  sources: null,
  job_id: null,
  trouble: null,
  occupied: false,
};
const running = {
  ...idle,
  status: 'running',
  phase: 'parsing',
  attempt_id: 'a1',
  actions: ['stop'],
  safe_to_leave: false,
  corpus_name: 'handbook',
  draft: true,
  sources: { total: 2, checked: 2, parsed: 1, split: 0, skipped: 0, failed: 0 },
};
const staged = {
  id: '0f3b6c2d9a4e8b71',
  kind: 'upload',
  name: 'welcome.pdf',
  corpus_name: 'handbook',
  bytes: 18_230,
  media_type: 'application/pdf',
  status: 'staged',
  plan: null,
  explanation: 'Waits for the start.',
  chunks: null,
  code: null,
};

const page = {
  url: 'https://example.com/opening',
  final_url: 'https://example.com/opening',
  media_type: 'text/html',
  title: 'Opening times',
  language: 'en',
  text: 'Opening times\n\nThe workshop opens at nine.',
  markdown: text,
  meta: {},
};
const vectors = {
  model: 'static-256',
  dimensions: 3,
  embeddings: [[0.12, -0.4, 0.91]],
  tokens: 6,
  cost_cents: 0,
};
const enqueuedId = '3c8c1a3e-9a54-4f1d-8f0a-2f7d0b8e6c55';
const handoff = '5f1d0a7c-2f1e-4a53-8a0e-93d1a4c7b802';

export const workManual: Readonly<Record<string, Manual>> = {
  'POST /batch/tasks': {
    description:
      'Submits recordings, questions or texts to the batch interface of a provider, which ' +
      'answers within hours at about half the price. Give `urls` and a `provider` for ' +
      'recordings, or `requests` and `models` for questions and texts. The task is on disk when ' +
      'its id is returned.',
    headers: { 'idempotency-key': 'questions-2026-03-02' },
    body: {
      task_type: 'completion',
      models: ['gpt-4o-mini'],
      requests: [{ custom_id: 'one', input: 'Who has the key?' }],
    },
    answer: task,
  },
  'GET /batch/providers': {
    description: 'Lists the batch providers that are configured, and the input that each takes.',
    answer: { items: [{ provider: 'openai', task_types: ['completion'], input: 'requests' }] },
  },
  'GET /batch/tasks': {
    description: 'Lists your batch tasks, newest first.',
    query: { state: 'in_progress', limit: 20 },
    answer: { items: [task], next_cursor: null },
  },
  'GET /batch/tasks/:id': {
    description: 'Shows a batch task: its state, its counts, its cost, and when it is polled next.',
    params: { id: taskId },
    answer: task,
  },
  'GET /batch/tasks/:id/output': {
    description: 'Returns the merged results of a batch task that has ended, by `custom_id`.',
    params: { id: taskId },
    answer: { one: { text: 'Ada has the key.' } },
  },
  'POST /batch/tasks/:id/cancel': {
    description:
      'Cancels a batch task here at once, and at its provider as soon as the provider can be ' +
      'reached.',
    params: { id: taskId },
    answer: { ...task, status: 'CANCELED', state: 'canceled', actions: [], ended_at: at },
  },
  'GET /attempt': {
    description:
      'Shows the interactive import, in which staged sources are checked, parsed and chunked ' +
      'before all of them are committed together. Programs usually want `POST /jobs` instead.',
    answer: idle,
  },
  'POST /attempt/start': {
    description: 'Starts the import of everything that you have staged into one corpus.',
    body: { corpus_name: 'handbook' },
    answer: running,
  },
  'POST /attempt/stop': {
    description: 'Pauses the import after the steps that run now. Nothing is lost.',
    answer: { ...running, status: 'stopping', actions: [] },
  },
  'POST /attempt/resume': {
    description: 'Continues a paused import where it stopped.',
    answer: running,
  },
  'GET /staging': {
    description: 'Lists the sources that are staged for the interactive import.',
    answer: { items: [staged], next_cursor: null },
  },
  'POST /staging': {
    description:
      'Stages sources for the interactive import, as a multipart form: all of them, or none. ' +
      'Fields `path` are accepted only where no API keys are configured.',
    form: {
      corpus_name: 'handbook',
      file: ['(the bytes of welcome.pdf)'],
      url: ['https://example.com/opening'],
    },
    answer: { items: [staged] },
  },
  'DELETE /staging': {
    description: 'Removes staged sources. Without `id`, all of them.',
    query: { id: staged.id },
    answer: { removed: 1 },
  },
  'POST /scrape': {
    description:
      'Fetches one page or file and returns its text, without storing anything. Slow pages end ' +
      'with 504 after 30 seconds; use `POST /enqueue` for them.',
    body: { url: page.url },
    answer: { job_id: null, ...page },
  },
  'POST /chunk': {
    description: 'Splits a text into the chunks that would be indexed, without storing anything.',
    body: { text },
    answer: {
      job_id: null,
      chunks: [
        {
          chunk_id: '3e43484a269a664090d29bb5',
          ordinal: 0,
          heading: 'Opening times',
          start_offset: 0,
          end_offset: 44,
          tokens: 10,
          text,
        },
      ],
    },
  },
  'POST /embed': {
    description: 'Returns one vector per text, made by the configured embedding model.',
    body: { texts: ['The workshop opens at nine.'] },
    answer: { job_id: null, ...vectors },
  },
  'POST /enqueue': {
    description:
      'Puts a page (`url`) or texts (`texts`) into a queue, for inputs that take longer than a ' +
      'request may. Without a `job_id`, the result is read with `GET /enqueue/:id`.',
    body: { url: page.url },
    answer: { job_id: null, status: 'queued', id: enqueuedId },
  },
  'GET /enqueue/:id': {
    description: 'Returns the result of `POST /enqueue`. It is kept for just under an hour.',
    params: { id: enqueuedId },
    answer: { id: enqueuedId, status: 'done', page, vectors: null, error: null },
  },
  'POST /callbacks': {
    description:
      'Called by a worker of Pawl, with the callbacks that it makes at about the same time. Each ' +
      'is handled like a request of its own, and one that is refused does not affect the others. ' +
      'The request must be signed.',
    body: { calls: [{ job_id: jobId, heartbeat: { handoff, epoch: 1 } }] },
    answer: { replies: [{ heartbeat: { status: 'ok' } }] },
  },
  'POST /jobs/:id/begin': {
    description:
      'Called by a worker of Pawl that has taken a message from a queue. It receives the work ' +
      'and an `epoch`, which its later calls must carry.',
    params: { id: jobId },
    body: {
      handoff,
      worker: { id: 'scraper-1', host: 'host-1', pid: 4711, process_started: at },
    },
    answer: { status: 'begun', epoch: 1, kind: 'fetch', request: { url: page.url } },
  },
  'POST /jobs/:id/heartbeat': {
    description:
      'Called by a worker of Pawl every few seconds. `gone` means that the work belongs to ' +
      'another worker now.',
    params: { id: jobId },
    body: { handoff, epoch: 1, progress: { done: 1, total: 4 } },
    answer: { status: 'ok' },
  },
  'POST /jobs/:id/complete': {
    description:
      'Called by a service that has finished a stage of a job. A duplicate has no effect and ' +
      'returns `already_advanced`.',
    params: { id: jobId },
    body: { stage: 'scraping', status: 'success', result: { markdown: text } },
    answer: { status: 'chunking' },
  },
};
