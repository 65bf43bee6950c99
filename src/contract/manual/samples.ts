/** Parts of several examples. They describe one corpus, `handbook`, and one job that filled it. */

export const jobId = 'd06479b9-1811-4670-be98-b8a45843b988';
export const documentId = 'b704509cbf636f74ccc7dd6a2c7fd1e7';
export const at = '2026-03-02T09:00:00.000Z';
const endedAt = '2026-03-02T09:00:01.500Z';
const contentHash = '5cd1f5b4ae4673dc2c37c22a223cc3ed3068f34ab1c3198ccc191d69093550f7';
const noTokens = { in: 0, out: 0 };

export const acceptedJob = { job_id: jobId, status: 'pending', state: 'queued', url_count: 2 };

const counters = {
  urls_total: 2,
  urls_enqueued: 2,
  urls_processed: 2,
  documents_emitted: 1,
  chunks_indexed: 1,
  tokens_estimated: 26,
  duration_seconds: 1.5,
};

const spent = {
  cost_cents: 0,
  tokens: noTokens,
  tokens_unpriced: 0,
  tokens_saved: 0,
  saved_cents: 0,
  budget_cents: null,
};

export const job = {
  job_id: jobId,
  status: 'done',
  state: 'succeeded',
  message: 'Document indexed — ready to search',
  type: 'ingest',
  url: 'inline:welcome',
  corpus_name: 'handbook',
  priority: 0,
  lane: 'now',
  partial: true,
  items_total: 2,
  items_done: 1,
  items_failed: 1,
  items_canceled: 0,
  items_waiting: 0,
  chunks_indexed: 1,
  eta_seconds: null,
  counters,
  ...spent,
  pause_reason: null,
  max_wall_seconds: 604_800,
  deadline_at: null,
  actions: ['retry'],
  last_error_kind: null,
  last_error_code: null,
  created_at: at,
  updated_at: endedAt,
  started_at: at,
  ended_at: endedAt,
  canceled_at: null,
};

const advice = 'Check that the document was saved and has content, then submit it again.';
const span = { first_at: endedAt, last_at: endedAt };

export const jobDetail = {
  ...job,
  counters: { ...counters, steps: { done: 1, failed: 1 } },
  items_unchanged: 0,
  documents_partly_read: 0,
  causes: [{ cause: 'empty_source', count: 1, title: 'Source is empty', advice, ...span }],
  attempt: 1,
  next_retry_at: null,
};

export const item = {
  item_id: 1,
  job_id: jobId,
  corpus_name: 'handbook',
  document_id: documentId,
  source: 'inline:welcome',
  source_kind: 'inline',
  step: 'done',
  reached: [
    ...['fetched', 'content_extracted', 'chunked', 'embedded', 'entity_extracted'],
    ...['persisted', 'indexed', 'done'],
  ],
  waits_on: null,
  lease: null,
  working: null,
  attempt: 1,
  retry_count: 0,
  last_error_kind: null,
  last_error_code: null,
  next_retry_at: null,
  error: null,
  advice: null,
  explanation: 'Searchable.',
  cost_cents: 0,
  tokens: noTokens,
  actions: [],
  failed_at: null,
  created_at: at,
  moved_at: endedAt,
};

export const failedItem = {
  ...item,
  item_id: 2,
  document_id: '654dcb22c966c68959c1e350d45e7bbe',
  source: 'inline:empty',
  step: 'failed',
  reached: [],
  last_error_kind: 'fatal',
  last_error_code: 'empty_source',
  error: {
    stage: 'scraping',
    step: 'fetched',
    code: 'empty_source',
    error_code: 'E_EMPTY',
    kind: 'fatal',
    message: 'inline:empty has no text',
    context: { url: 'inline:empty', attempt: 1 },
    at: endedAt,
  },
  advice,
  explanation:
    'Failed while it was fetched (empty_source): Source is empty. ' +
    `${advice} Then retry or discard it.`,
  actions: ['retry', 'discard'],
  failed_at: endedAt,
};

export const cause = {
  cause: 'empty_source',
  fingerprint: 'empty_source',
  domain: null,
  count: 1,
  sentence: '1 document: empty_source',
  title: 'Source is empty',
  advice,
  ...span,
};

export const event = {
  seq: 1,
  at,
  kind: 'job_accepted',
  status: 'pending',
  job_id: jobId,
  item_id: null,
  step: null,
  attempt: 1,
  worker: null,
  detail: { from: null, to: 'queued', reason: 'accepted', corpus: 'handbook', items: 2 },
};

export const corpus = {
  name: 'handbook',
  documents: 1,
  documents_partly_read: 0,
  chunks: 1,
  text_bytes: 44,
  created_at: at,
  updated_at: endedAt,
};

export const corpusDetail = {
  ...corpus,
  model: 'static-256',
  next_model: null,
  chunk_tokens: 256,
  chunk_overlap_tokens: 32,
  documents_to_chunk: 0,
  access: 'own',
  shares: [],
  ...spent,
};

export const document = {
  document_id: documentId,
  corpus_name: 'handbook',
  source_url: 'inline:welcome',
  title: 'Welcome',
  language: null,
  generation: 1,
  chunks: 1,
  text_bytes: 44,
  kept_share: 1,
  warnings: [],
  metadata: { team: 'facilities' },
  meta: { author: 'Ada Lovelace' },
  content_hash: contentHash,
  created_at: endedAt,
  updated_at: endedAt,
};

export const text = '# Opening times\n\nThe workshop opens at nine.';

export const chunk = {
  chunk_id: '9c4306a00eb71d38fcb725bb',
  ordinal: 0,
  heading: 'Opening times',
  text,
  start_offset: 0,
  end_offset: 44,
  tokens: 10,
  page: null,
};

export const hit = {
  chunk_id: chunk.chunk_id,
  corpus_name: 'handbook',
  text,
  score: 1,
  relevance: 0.82,
  near: false,
  source_url: 'inline:welcome',
  document_id: documentId,
  title: 'Welcome',
  metadata: { team: 'facilities' },
  heading: 'Opening times',
  page: null,
  ordinal: 0,
  highlights: [
    { start: 21, end: 29 },
    { start: 30, end: 35 },
  ],
  similar: 0,
  more_in_document: 0,
};

export const why = {
  corpus_name: 'handbook',
  url: 'inline:welcome',
  verdict: 'searchable',
  explanation: 'Version 1 is searchable, with 1 passage.',
  document,
  provenance: {
    generation: 1,
    content_hash: contentHash,
    job_id: jobId,
    item_id: 1,
    blob_key: null,
    media_type: null,
    bytes: null,
    fetched_from: null,
    fetched_at: null,
    indexed_at: endedAt,
  },
  item,
  chunk: { ...chunk, score: 1 },
};

export const delivery = {
  delivery_id: 'msg_2b0c7f6a',
  type: 'job.succeeded',
  url: 'https://example.com/hooks/pawl',
  state: 'delivered',
  attempt: 1,
  status: 200,
  error: null,
  next_try_at: null,
  tried_at: endedAt,
  created_at: endedAt,
};

/** A run of a source, in which one file was new and one had moved. */
export const syncRun = {
  run_id: 1,
  source: 'docs',
  state: 'succeeded',
  cause: 'schedule',
  is_plan: false,
  listed: 2,
  found: { added: 1, changed: 0, moved: 1, restored: 0, removed: 0, unchanged: 0 },
  open: 0,
  job_ids: [jobId],
  error: null,
  created_at: at,
  ended_at: endedAt,
};

/** A run that found an empty folder. */
export const heldRun = {
  ...syncRun,
  run_id: 2,
  state: 'held',
  listed: 0,
  found: { added: 0, changed: 0, moved: 0, restored: 0, removed: 2, unchanged: 0 },
  open: 2,
  job_ids: [],
  ended_at: null,
};
