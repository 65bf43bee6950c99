/** Failures as values with a code, and the one place that converts exceptions to failures. */

import { limits } from '../limits/limits.ts';
import { redact } from '../text/redact.ts';
import { shortened } from '../text/shortened.ts';
import { type FailureCode, type FailureKind, failureGroups, failures } from './table.ts';

export { type FailureCode, type FailureKind, type FailureRow, failures } from './table.ts';

/** Where it happened. Never contains a key or document text. */
export interface FailureContext {
  readonly domain?: string | undefined;
  readonly url?: string | undefined;
  readonly attempt?: number | undefined;
  readonly worker_id?: string | undefined;
  readonly [name: string]: string | number | boolean | undefined;
}

export interface FailureOptions {
  readonly cause?: unknown;
  /** How long the other side asked us to wait. */
  readonly retryAfterMs?: number | undefined;
  /** How often the reporting worker has tried, if more than once. */
  readonly tries?: number | undefined;
  /** The worker has decided: the failure is recorded without a second decision. */
  readonly isFinal?: boolean | undefined;
  readonly context?: FailureContext | undefined;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  readonly retryAfterMs: number | undefined;
  readonly tries: number;
  readonly isFinal: boolean;
  readonly context: FailureContext;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(
      shownMessage(message),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.tries = options.tries ?? 1;
    this.isFinal = options.isFinal ?? false;
    this.context = redactedContext(options.context ?? {});
  }

  get kind(): FailureKind {
    return failures[this.code].kind;
  }

  /** One sentence: what to do. */
  get advice(): string {
    return failures[this.code].advice;
  }
}

/** Shortened, because it may quote input of any length. Redacted first: a cut can hide a secret. */
function shownMessage(message: string): string {
  return shortened(redact(message), limits.failure.messageCharactersMax);
}

function redactedContext(context: FailureContext): FailureContext {
  return context.url === undefined ? context : { ...context, url: redact(context.url) };
}

export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(failures, code);
}

/** Whether the engine retries automatically. */
export function isRetried(code: FailureCode): boolean {
  const { kind } = failures[code];
  return kind === 'transient' || kind === 'rate_limited';
}

/** Not the document's fault: its job is paused with this reason, and no document fails. */
export const pauseReasons: Partial<Record<FailureCode, string>> = {
  budget_exhausted: 'budget_reached',
  provider_quota: 'quota_exhausted',
};

/**
 * Failures of something that all documents need: the document waits until the outage ends and uses
 * no retry. A failure that one document can cause is not listed, because it would be retried
 * forever.
 */
const outageCodes: readonly FailureCode[] = [
  ...(['store_busy', 'storage_full', 'storage_failed', 'queue_unavailable'] as const),
  ...(['store_gone', 'store_read_only'] as const),
  ...(['qdrant_unavailable', 'neo4j_unavailable'] as const),
];

export function isOutage(code: FailureCode): boolean {
  return outageCodes.includes(code);
}

const antiBotCodes: readonly FailureCode[] = ['captcha', '403_waf', '503_shield'];

/** The site shows anti-bot protection: its domain is slowed down and the session is changed. */
export function isAntiBot(code: FailureCode): boolean {
  return antiBotCodes.includes(code);
}

/** Error names and codes of runtimes, networks and databases, in the order of the failure table. */
const codesOfErrors: Partial<Record<FailureCode, readonly string[]>> = {
  invalid_url: ['ERR_INVALID_URL'],
  package_missing: ['ERR_MODULE_NOT_FOUND'],
  network_error: [
    ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
    ...['EPIPE', 'ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EHOSTDOWN', 'UND_ERR_SOCKET'],
  ],
  connection_timeout: ['UND_ERR_CONNECT_TIMEOUT'],
  timeout_soft: [
    ...['AbortError', 'TimeoutError', 'ABORT_ERR'],
    ...['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_ABORTED'],
  ],
  certificate_invalid: [
    ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_REVOKED'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ],
  source_missing: ['ENOENT', 'ENOTDIR'],
  source_unreadable: ['EACCES', 'EPERM', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'],
  source_too_large: ['EFBIG', 'ERR_FS_FILE_TOO_LARGE', 'ERR_STRING_TOO_LONG'],
  // 53100: Postgres, disk full.
  storage_full: ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'],
  store_damaged: ['SQLITE_CORRUPT', 'SQLITE_NOTADB'],
  store_read_only: ['EROFS', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'],
  // Postgres: a NUL character in a text, and one escaped in JSON.
  bad_request: ['22021', '22P05'],
  store_busy: [
    ...['SQLITE_BUSY', 'SQLITE_LOCKED'],
    // Postgres: serialization failure, deadlock, lock not available.
    ...['40001', '40P01', '55P03'],
    // Shut down, crashed, still starting, idle for too long.
    ...['57P01', '57P02', '57P03', '57P05', '25P03'],
    // Out of connections; broken connection; read-only server after a failover.
    ...['53000', '53300', '08000', '08001', '08003', '08004', '08006', '25006'],
  ],
  machine_busy: [
    ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'],
    // Postgres: out of memory, and statement timeout. One document can cause these by its size, so
    // they are not an outage.
    ...['53200', '57014'],
  ],
};

const failureOfError: ReadonlyMap<string, FailureCode> = new Map(
  Object.entries(codesOfErrors).flatMap(([code, names]) =>
    names.map((name): [string, FailureCode] => [name, code as FailureCode]),
  ),
);

/** SQLite's primary result codes: the low 8 bits of the number that `node:sqlite` gives. */
const sqliteNames: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [26, 'SQLITE_NOTADB'],
]);

/** `fetch` and drivers wrap the original error: the search for it stops at this depth. */
const causesMax = 8;

/** Converts exceptions to failures. An unrecognized exception is a defect and is never retried. */
export function toFailure(error: unknown): Failure {
  let inner = error;
  for (let depth = 0; depth < causesMax && inner instanceof Object; depth += 1) {
    // A failure inside a wrapper keeps its code; a failure itself passes unchanged.
    if (inner instanceof Failure) return inner;
    const code = codeOf(inner);
    if (code !== undefined) return new Failure(code, messageOf(error, inner), { cause: error });
    inner = causeOf(inner);
  }
  return new Failure('internal_error', messageOf(error, error), { cause: error });
}

function codeOf(error: object): FailureCode | undefined {
  const { code, name, errcode } = error as Record<string, unknown>;
  const sqlite = typeof errcode === 'number' ? sqliteNames.get(errcode & 0xff) : undefined;
  for (const key of [sqlite, code, name]) {
    const found = typeof key === 'string' ? failureOfError.get(key) : undefined;
    if (found !== undefined) return found;
  }
  // Some parts of the runtime give only a message.
  const { message } = error as { message?: unknown };
  return /too many open files|\bE[MN]FILE\b/.test(String(message)) ? 'machine_busy' : undefined;
}

function causeOf(error: object): unknown {
  if ('cause' in error && error.cause !== undefined) return error.cause;
  return error instanceof AggregateError ? error.errors[0] : undefined;
}

/** The wrapper says what was attempted, its cause says why it failed. */
function messageOf(outer: unknown, inner: unknown): string {
  const [attempted, why] = [outer, inner].map((error) =>
    error instanceof Error ? withInstall(error.message) || error.name : String(error),
  );
  return attempted === why || why === undefined ? `${attempted}` : `${attempted}: ${why}`;
}

/** Node names the importing file; what helps is the command that installs the package. */
function withInstall(message: string): string {
  const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  if (name === undefined) return message;
  return `the package ${name} is not installed: run \`npm install ${name}\``;
}

/** The text of `docs/generated/failures.md`. */
export function failuresPage(): string {
  const sections = Object.entries(failureGroups).flatMap(([title, group]) => [
    `## ${title}`,
    '',
    '| code | error code | kind | retried | HTTP | what happened | what to do |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...Object.entries(group).map(([code, row]) => {
      const retried = retriedCell(code as FailureCode);
      const names = [`\`${code}\``, `\`${row.errorCode}\``];
      const cells = [...names, row.kind, retried, row.httpStatus, row.title, row.advice];
      return `| ${cells.join(' | ')} |`;
    }),
    '',
  ]);
  return [...pageHead, ...sections].join('\n');
}

function retriedCell(code: FailureCode): string {
  if (isOutage(code)) return 'until it ends';
  return isRetried(code) ? 'yes' : 'no';
}

const pageHead = [
  '# Failures',
  '',
  '<!-- Written from src/kernel/failure/table.ts. Do not edit by hand. -->',
  '',
  'Every failure has one code from this table. Its kind decides what happens next:',
  '',
  '| kind | what Pawl does |',
  '| --- | --- |',
  '| rate_limited | waits as long as requested and tries again; this uses no retry |',
  '| transient | tries again after a growing, random delay, up to the retries of the step; ' +
    'outages are retried until they end and use no retry |',
  '| schema_invalid | stops immediately: the same input would give the same output |',
  '| fatal | stops immediately |',
  '',
];
