/**
 * The one closed table of failures. A code fixes how the engine reacts (`kind`), the HTTP status,
 * the code that external tools group by (`errorCode`, which several codes may share), and the text
 * that people read. A code is never renamed: others store, count and match it.
 */

import { queueFailures } from './queue.ts';
import { requestFailures } from './request.ts';
import { type FailureRow, row } from './row.ts';
import { sinkFailures } from './sink.ts';
import { storeFailures } from './store.ts';

export type { FailureKind, FailureRow } from './row.ts';

/** Fetching a source. Statuses of 502 and 504 refer to the origin, not to the caller. */
const fetching = {
  invalid_url: row('E_URL_BAD', 'fatal', 400, {
    title: 'Invalid URL',
    advice: 'Correct the address: it must be a complete http or https URL.',
  }),
  private_address: row('E_PRIVATE_ADDRESS', 'fatal', 403, {
    title: 'Private address',
    advice: 'Use a public address, or allow this exact host and port in PAWL_ALLOW_HOSTS.',
  }),
  robots_disallowed: row('E_ROBOTS', 'fatal', 403, {
    title: 'Disallowed by robots.txt',
    advice: 'Ask the owner of the site for permission, or submit the document as a file.',
  }),
  network_error: row('E_NETWORK', 'transient', 502, {
    title: 'Network error',
    advice: 'Check that the address can be reached from this machine, then retry.',
  }),
  connection_timeout: row('E_TIMEOUT', 'transient', 504, {
    title: 'Connection timed out',
    advice: 'Check that the server is up and that no firewall blocks it, then retry.',
  }),
  timeout_soft: row('E_TIMEOUT', 'transient', 504, {
    title: 'Timed out',
    advice: 'Retry later, or use the asynchronous route for slow or large inputs.',
  }),
  certificate_invalid: row('E_CERTIFICATE', 'fatal', 502, {
    title: 'Invalid certificate',
    advice: 'Ask the owner of the site to renew or correct its certificate, then retry.',
  }),
  redirect_loop: row('E_REDIRECT', 'fatal', 502, {
    title: 'Too many redirects',
    advice: 'Open the address in a browser and submit the final address.',
  }),
  bad_response: row('E_RESPONSE', 'fatal', 502, {
    title: 'Unreadable response',
    advice: 'Open the address in a browser, save the page, and submit it as a file.',
  }),
  browser_crash: row('E_BROWSER', 'transient', 503, {
    title: 'Browser crashed',
    advice: 'Retry. If it crashes again, add memory or run fewer workers.',
  }),
  captcha: row('E_CAPTCHA', 'transient', 502, {
    title: 'Captcha shown',
    advice: 'Wait until the site trusts this machine again, or submit the page as a file.',
  }),
  '403_waf': row('E_403_WAF', 'transient', 502, {
    title: 'Blocked by a firewall',
    advice: 'Ask the owner of the site to allow Pawl, or submit the page as a file.',
  }),
  '503_shield': row('E_503_SHIELD', 'transient', 502, {
    title: 'Blocked by DDoS protection',
    advice: 'Wait until the site lowers its protection, or submit the page as a file.',
  }),
  // No sign of a firewall: `403_waf` covers those.
  http_403: row('E_403_ORIGIN', 'fatal', 502, {
    title: 'The site answered 403',
    advice: 'Check that the page is public: it must open in a private window without a login.',
  }),
  http_404: row('E_404_ORIGIN', 'fatal', 422, {
    title: 'The site answered 404',
    advice: 'Correct the address, or remove the document if the page no longer exists.',
  }),
  http_410: row('E_410_ORIGIN', 'fatal', 422, {
    title: 'The site answered 410',
    advice: 'Discard this item: the site says that the page is permanently gone.',
  }),
  http_429: row('E_429_RATE', 'rate_limited', 503, {
    title: 'The site answered 429',
    advice: 'Nothing to do: Pawl continues when the site allows it.',
  }),
  domain_held: row('E_429_RATE', 'rate_limited', 503, {
    title: 'Requests to the site are paused',
    advice: 'Nothing to do: Pawl continues at the rate that the site allows.',
  }),
  http_4xx: row('E_4XX_ORIGIN', 'fatal', 502, {
    title: 'The site refused the request',
    advice: 'Open the address in a browser to see what the site requires, then retry.',
  }),
  http_5xx: row('E_5XX_ORIGIN', 'transient', 502, {
    title: 'The site is failing',
    advice: 'Retry when the site works again.',
  }),
} as const satisfies Record<string, FailureRow>;

/** Converting a source to text. */
const reading = {
  source_missing: row('E_SOURCE_MISSING', 'fatal', 422, {
    title: 'Source not found',
    advice: 'Check the path, and that the file was not moved or deleted, then submit it again.',
  }),
  source_unreadable: row('E_SOURCE_UNREADABLE', 'fatal', 422, {
    title: 'Source not readable',
    advice: 'Check that it is a file that the user that runs Pawl may read, then retry.',
  }),
  source_too_large: row('E_TOO_LARGE', 'fatal', 413, {
    title: 'Source too large',
    advice: 'Split the document into smaller ones and submit those.',
  }),
  empty_source: row('E_EMPTY', 'fatal', 422, {
    title: 'Source is empty',
    advice: 'Check that the document was saved and has content, then submit it again.',
  }),
  no_usable_content: row('E_NO_CONTENT', 'fatal', 422, {
    title: 'No usable text',
    advice: 'Submit a version with real text; for a page that needs its scripts, set PAWL_BROWSER.',
  }),
  binary_source: row('E_BINARY', 'fatal', 415, {
    title: 'Binary content',
    advice: 'Convert it to text, HTML, Markdown, PDF or an office format, and submit that.',
  }),
  unsupported_mime: row('E_MIME', 'fatal', 415, {
    title: 'Unsupported type',
    advice: 'Convert it to text, HTML, Markdown, PDF or an office format, and submit that.',
  }),
  encrypted_document: row('E_ENCRYPTED', 'fatal', 422, {
    title: 'Document is encrypted',
    advice: 'Save a copy without a password and submit that.',
  }),
  parse_error_strict: row('E_PARSE', 'fatal', 422, {
    title: 'Document is damaged',
    advice: 'Open it in its own program, save a new copy, and submit that copy.',
  }),
  // Decompression bombs, and legitimate documents above a limit of limits.ts.
  parse_limit_exceeded: row('E_PARSE', 'fatal', 422, {
    title: 'Document exceeds a limit',
    advice: 'Split the document into smaller ones, or save it in a simpler format.',
  }),
  // A parser may also crash because the machine ran out of memory, so this is retried.
  parse_crashed: row('E_PARSE', 'transient', 422, {
    title: 'Parser crashed',
    advice: 'Open the document in its own program, save a new copy, and submit that copy.',
  }),
  parse_timeout: row('E_PARSE', 'fatal', 422, {
    title: 'Parsing took too long',
    advice: 'Split the document, or save it in a simpler format, and submit that.',
  }),
  parse_memory: row('E_PARSE', 'fatal', 422, {
    title: 'Parsing took too much memory',
    advice: 'Split the document, or save it in a simpler format, and submit that.',
  }),
} as const satisfies Record<string, FailureRow>;

/** Providers and sinks. */
const delivering = {
  rate_limited: row('E_429_RATE', 'rate_limited', 503, {
    title: 'Provider limits the rate',
    advice: 'Nothing to do: Pawl continues when the provider allows it.',
  }),
  provider_unavailable: row('E_PROVIDER', 'transient', 503, {
    title: 'Provider unavailable',
    advice: "Check the provider's address and its status page, then retry.",
  }),
  provider_auth: row('E_PROVIDER_AUTH', 'fatal', 502, {
    title: 'Provider refused the key',
    advice: "Set a valid key for the provider in Pawl's configuration, then retry.",
  }),
  provider_bad_request: row('E_PROVIDER_REQUEST', 'fatal', 502, {
    title: 'Provider refused the request',
    advice: 'Check that the configured model exists and that the input fits it, then retry.',
  }),
  origin_not_configured: row('E_ORIGIN', 'fatal', 409, {
    title: 'Model address not configured',
    advice: 'Configure the model and address that the detail names, or accept the new address.',
  }),
  provider_quota: row('E_PROVIDER_QUOTA', 'fatal', 402, {
    title: 'Provider account is empty',
    advice: 'Top up the account with the provider, then resume the job: what was paid is kept.',
  }),
  // The next response may be valid: a proxy's error page, a truncated response.
  provider_protocol_error: row('E_PROVIDER_PROTOCOL', 'transient', 502, {
    title: 'Invalid provider response',
    advice: "Check the provider's address and its status page, then retry.",
  }),
  provider_rejected: row('E_PROVIDER_REJECTED', 'fatal', 502, {
    title: 'Provider rejected the document',
    advice: 'Read the error of the provider, correct the document, then retry.',
  }),
  provider_unknown: row('E_PROVIDER_UNKNOWN', 'fatal', 422, {
    title: 'Provider not configured',
    advice: 'Add its address and key to the file that PAWL_BATCH_PROVIDERS names, then retry.',
  }),
  provider_state_invalid: row('E_PROVIDER_STATE', 'fatal', 500, {
    title: 'Stored provider state is damaged',
    advice: "Check the jobs in the provider's own console, then submit the task again.",
  }),
  batch_expired: row('E_BATCH_EXPIRED', 'fatal', 504, {
    title: 'Batch took too long',
    advice: 'Retry it in smaller batches, or at the normal price.',
  }),
  gpu_oom: row('E_GPU_OOM', 'transient', 503, {
    title: 'Out of GPU memory',
    advice: 'Lower the batch size of the model server, or give it more memory, then retry.',
  }),
  ...sinkFailures,
  step_output_invalid: row('E_STEP_OUTPUT', 'schema_invalid', 502, {
    title: 'Result has the wrong shape',
    advice: 'Choose another model or parser: the same input would give the same result again.',
  }),
  budget_exhausted: row('E_BUDGET', 'fatal', 402, {
    title: 'Budget exhausted',
    advice: 'Raise the budget, then resume the job: paid work is kept.',
  }),
} as const satisfies Record<string, FailureRow>;

/** The engine itself. */
const running = {
  max_retries_exceeded: row('E_RETRIES', 'fatal', 502, {
    title: 'All retries failed',
    advice: 'Read the last error of this item, fix its cause, then retry.',
  }),
  timeout_hard: row('E_TIMEOUT', 'fatal', 504, {
    title: 'Job ran out of time',
    advice:
      'Retry the job: finished work is kept. Or submit it again with a higher max_wall_seconds.',
  }),
  stage_stuck: row('E_STUCK', 'fatal', 504, {
    title: 'No progress for too long',
    advice: 'Check that a worker for this stage is running, then retry.',
  }),
  crashed_repeatedly: row('E_CRASHED', 'fatal', 500, {
    title: 'Worker died several times',
    advice:
      'It crashed workers even when it ran alone: use a machine with more memory, or discard it.',
  }),
  lease_lost: row('E_LEASE', 'transient', 409, {
    title: 'Another worker took over',
    advice: 'Nothing to do: another worker has this item now.',
  }),
  canceled: row('E_CANCELED', 'fatal', 409, {
    title: 'Canceled',
    advice: 'Retry it if the cancellation was a mistake.',
  }),
  service_busy: row('E_SERVICE', 'rate_limited', 503, {
    title: 'No worker is free',
    advice:
      'If workers are running, do nothing: Pawl continues when one is free. Otherwise start one.',
  }),
  service_failed: row('E_SERVICE', 'transient', 502, {
    title: 'Service failed',
    advice: 'Check the log of the service that the message names, then retry.',
  }),
  storage_full: row('E_STORAGE_FULL', 'transient', 503, {
    title: 'Storage is full',
    advice: 'Free some disk space or point PAWL_DATA at a larger disk, then retry.',
  }),
  storage_failed: row('E_STORAGE_FAILED', 'transient', 503, {
    title: 'Storage failed',
    advice: 'Check the disk, then restart Pawl: acknowledged work is kept.',
  }),
  store_busy: row('E_STORE_BUSY', 'transient', 503, {
    title: 'Store is busy',
    advice:
      'Retry in a moment. Check that Postgres runs, or that no other program locks the store.',
  }),
  replaced_meanwhile: row('E_REPLACED', 'transient', 409, {
    title: 'Document was replaced',
    advice: 'Nothing to do: Pawl restarts with the current version.',
  }),
  index_full: row('E_INDEX_FULL', 'transient', 503, {
    title: 'Corpus does not fit in memory',
    advice: 'Split the corpus into smaller ones: its search index exceeds the memory limit.',
  }),
  machine_busy: row('E_MACHINE', 'transient', 503, {
    title: 'Machine is out of resources',
    advice: 'Raise the limits on memory or open files, or run fewer workers, then retry.',
  }),
  ...queueFailures,
  ...storeFailures,
  schema_too_new: row('E_SCHEMA', 'fatal', 500, {
    title: 'Store is from a newer Pawl',
    advice: 'Start the version of Pawl that wrote this store, or a newer one.',
  }),
  internal_error: row('E_INTERNAL', 'fatal', 500, {
    title: 'Internal error',
    advice: 'Report it with the request id or the item id: it is a defect in Pawl.',
  }),
} as const satisfies Record<string, FailureRow>;

/** The groups in the order of the documentation. */
export const failureGroups = {
  'Fetching a source': fetching,
  'Reading a source': reading,
  'Providers and sinks': delivering,
  'The engine': running,
  Requests: requestFailures,
} as const;

export const failures = {
  ...fetching,
  ...reading,
  ...delivering,
  ...running,
  ...requestFailures,
} as const;

export type FailureCode = keyof typeof failures;
