/** The manual of callers and of the service itself. */
import type { Manual } from './manual.ts';
import { at } from './samples.ts';

const hash = '9f86d081884c7d65';
const caller = { caller_id: 'ann', name: 'ann', created_at: at };
const detail = {
  ...caller,
  identities: [{ kind: 'key', subject: hash, created_at: at }],
  corpora: ['handbook'],
};
const operators = 'For operators: needs the internal key.';

export const serviceManual: Readonly<Record<string, Manual>> = {
  'GET /callers': {
    description: `Lists all callers of this store by id. ${operators}`,
    query: { limit: 50 },
    answer: { items: [{ ...caller, keys: 1, jobs: 3 }], next_cursor: null },
  },
  'GET /callers/:id': {
    description: `Shows one caller: its keys as hashes, and its corpora. ${operators}`,
    params: { id: 'ann' },
    answer: detail,
  },
  'PUT /callers/:id/keys/:hash': {
    description:
      'Links the hash of a key to a caller, so that a new key keeps access to everything that ' +
      `the old one created. ${operators}`,
    params: { id: 'ann', hash },
    query: { confirm: 'true' },
    answer: detail,
  },
  'DELETE /callers/:id/keys/:hash': {
    description: `Unlinks a key from a caller. The key itself is not revoked. ${operators}`,
    params: { id: 'ann', hash },
    query: { confirm: 'true' },
    answer: { ...detail, identities: [] },
  },
  'POST /callers/:id/move': {
    description: `Moves everything of a caller, or one corpus, to another caller. ${operators}`,
    params: { id: 'ann' },
    body: { to: 'bob', corpus_name: 'handbook' },
    answer: { from: 'ann', to: 'bob', corpora: 1 },
  },
  'GET /healthz': {
    description: 'Says that the process is alive. Checks nothing else; see `GET /readyz`.',
    answer: { status: 'ok' },
  },
  'GET /readyz': {
    description:
      'Checks the store, the queue and the embedding model. The status is 503 if one of them ' +
      'cannot be used.',
    answer: {
      ready: true,
      checks: {
        store: { ok: true, detail: 'sqlite, schema 35' },
        queue: { ok: true, detail: '0 items waiting' },
        provider: { ok: true, detail: 'static-256' },
      },
    },
  },
  'GET /metrics': {
    description: 'Returns the metrics of this process in the text format of Prometheus.',
    answer: '# TYPE jobs_inflight gauge\njobs_inflight{type="ingest"} 0\n',
  },
  'GET /openapi.json': {
    description: 'Returns this document: OpenAPI 3.1.',
    answer: { openapi: '3.1.0', info: { title: 'Pawl', version: '1' }, paths: {} },
  },
  'GET /docs': {
    description: 'Returns this API as a page for browsers, with a command to copy for each call.',
    answer: '<!doctype html>',
  },
  'GET /system': {
    description:
      'Shows the running workers, the domains that are being fetched from, and what is left of ' +
      'the rate limits of providers.',
    answer: {
      workers: [{ worker: 'c092af7f0c04', beat_at: at, items: 1 }],
      domains: [
        {
          domain: 'example.com',
          at_once: 2,
          interval_ms: 500,
          next_at: at,
          reading: 1,
          waiting: 4,
        },
      ],
      providers: [],
      caller: { caller_id: 'local', tier: null },
      answer_model: null,
    },
  },
  'GET /system/history': {
    description:
      'Shows what this process did in the last hour: requests, searches, documents and failures ' +
      'by interval, with the median and the 95th percentile of the times. Also the version, the ' +
      'embedding model, and the size of the store. For longer periods, scrape `GET /metrics`.',
    answer: {
      version: '0.1.0',
      model: 'local',
      store: { kind: 'sqlite', bytes: 1_048_576 },
      disk: { free_bytes: 50_000_000_000, total_bytes: 100_000_000_000 },
      interval_seconds: 15,
      readings: [
        {
          at,
          requests: 12,
          searches: 1,
          documents: 2,
          failures: 0,
          request_ms: { p50: 1.5, p95: 4 },
          search_ms: { p50: 8, p95: 8 },
        },
      ],
    },
  },
};
