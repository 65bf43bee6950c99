/** The rows of the failure table about requests and access. */
import { type FailureRow, noSuch, row } from './row.ts';

/** Failures of requests. */
export const requestFailures = {
  bad_request: row('E_BAD_REQUEST', 'fatal', 400, {
    title: 'Bad request',
    advice: 'Change the field that the detail names, then send the request again.',
  }),
  usage_error: row('E_USAGE', 'fatal', 400, {
    title: 'Wrong usage',
    advice: 'Run the command with --help to see what it takes.',
  }),
  package_missing: row('E_PACKAGE_MISSING', 'fatal', 500, {
    title: 'Package not installed',
    advice: 'Install the package where Pawl is installed, then start Pawl again.',
  }),
  pawl_closed: row('E_CLOSED', 'fatal', 503, {
    title: 'Pawl is closed',
    advice: 'Open it again with open(), and close it after the last call.',
  }),
  corpus_name_invalid: row('E_CORPUS_NAME', 'fatal', 400, {
    title: 'Invalid corpus name',
    advice: 'Use 1 to 64 of a-z, 0-9, dot, dash and underscore, starting with a letter or digit.',
  }),
  sources_empty: row('E_SOURCES_EMPTY', 'fatal', 400, {
    title: 'No sources given',
    advice: 'Name at least one URL, file or document.',
  }),
  too_many_sources: row('E_SOURCES_MANY', 'fatal', 400, {
    title: 'Too many sources',
    advice: 'Split them into several smaller jobs.',
  }),
  payload_too_large: row('E_PAYLOAD', 'fatal', 413, {
    title: 'Request too large',
    advice: 'Send less in one request, or upload the documents as files.',
  }),
  idempotency_conflict: row('E_IDEMPOTENCY', 'fatal', 422, {
    title: 'Idempotency key reused',
    advice: 'Use a new Idempotency-Key for a request that differs from the first.',
  }),
  action_not_allowed: row('E_ACTION', 'fatal', 409, {
    title: 'Not possible now',
    advice: 'Read the current state: it lists the allowed actions.',
  }),
  corpus_unknown: noSuch(
    'corpus',
    'Check the name in the list of corpora, or ingest something into it first.',
  ),
  corpus_ambiguous: row('E_AMBIGUOUS', 'fatal', 409, {
    title: 'Several corpora have this name',
    advice: 'Use one of the full names that the message lists, such as handbook@ann.',
  }),
  answerer_missing: row('E_ANSWERER', 'fatal', 409, {
    title: 'No model answers questions',
    advice:
      'Set PAWL_ANSWERER and its key or address, then start Pawl again. Search works without.',
  }),
  caller_unknown: noSuch('caller', 'Check the id in the list that `pawl callers` prints.'),
  job_unknown: noSuch('job', 'Check the id in the list of your jobs.'),
  item_unknown: noSuch('item', 'Check the id in the list of items of its job.'),
  delivery_unknown: noSuch('delivery', 'Check the id in the list of deliveries of its job.'),
  enqueued_unknown: noSuch(
    'result',
    'Fetch results within an hour and with the key that enqueued them, or enqueue again.',
  ),
  document_unknown: noSuch('document', 'Check the id in the list of documents of its corpus.'),
  source_unknown: noSuch('staged source', 'Check the id in the list of staged sources.'),
  sync_source_unknown: noSuch('sync source', 'Check the name in the list that `pawl sync` prints.'),
  sync_run_unknown: noSuch('sync run', 'Check the number in `pawl sync history NAME`.'),
  batch_task_unknown: noSuch('batch task', 'Check the id in the list of your batch tasks.'),
  route_unknown: noSuch(
    'route',
    'Check the method and the path in the API documentation at /docs.',
  ),
  method_unknown: row('E_METHOD', 'fatal', 405, {
    title: 'Method not allowed',
    advice: 'Use one of the methods that the header Allow names.',
  }),
  content_type_unsupported: row('E_CONTENT_TYPE', 'fatal', 415, {
    title: 'Content type not supported',
    advice:
      'Send JSON as application/json in UTF-8, uncompressed, or files as multipart/form-data.',
  }),
  range_not_satisfiable: row('E_RANGE', 'fatal', 416, {
    title: 'Range outside the content',
    advice: 'Ask for a range below the size that the Content-Range header gives.',
  }),
  headers_too_large: row('E_HEADERS', 'fatal', 431, {
    title: 'Headers too large',
    advice: 'Send fewer or shorter headers.',
  }),
  request_too_slow: row('E_REQUEST_SLOW', 'fatal', 408, {
    title: 'Request was too slow',
    advice: 'Send the whole request without long pauses.',
  }),
  too_many_streams: row('E_STREAMS', 'rate_limited', 429, {
    title: 'Too many streams',
    advice: 'Close streams that are no longer read, or read several jobs from /stream.',
  }),
  too_many_uploads: row('E_UPLOADS', 'rate_limited', 429, {
    title: 'Too many uploads at once',
    advice: 'Wait until one of your uploads has ended, then send the next.',
  }),
  unauthorized: row('E_UNAUTHORIZED', 'fatal', 401, {
    title: 'Key missing or invalid',
    advice: 'Send a valid key in the X-API-Key header.',
  }),
  forbidden: row('E_FORBIDDEN', 'fatal', 403, {
    title: 'Not permitted',
    advice: 'Use a key with this permission: internal routes need the internal key.',
  }),
  membership_unavailable: row('E_MEMBERSHIP', 'transient', 503, {
    title: 'Membership unavailable',
    advice: 'Retry in half a minute. If it fails again, check the Membership service.',
  }),
  /** Sent by the gateway, because the service itself is down. */
  service_unavailable: row('E_SERVICE', 'transient', 503, {
    title: 'Service unavailable',
    advice: 'Retry in a moment. If it fails again, check that the service behind the gateway runs.',
  }),
  rate_limit_hit: row('E_LIMIT', 'rate_limited', 429, {
    title: 'Too many requests',
    advice: 'Wait as long as the Retry-After header says, then send requests more slowly.',
  }),
  queue_full: row('E_QUEUE_FULL', 'rate_limited', 429, {
    title: 'Queue is full',
    advice: 'Wait as long as the Retry-After header says, then submit again.',
  }),
} as const satisfies Record<string, FailureRow>;
