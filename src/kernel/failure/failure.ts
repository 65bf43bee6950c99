/** What can go wrong, as values with a code, and the one place where exceptions become them. */

import { redact } from '../text/redact.ts';
import { type FailureCode, type FailureKind, failureGroups, failures } from './table.ts';

export { type FailureCode, type FailureKind, type FailureRow, failures } from './table.ts';

/** Where it happened. Never a key, never the text of a document. */
export interface FailureContext {
  readonly domain?: string | undefined;
  readonly url?: string | undefined;
  readonly attempt?: number | undefined;
  readonly worker_id?: string | undefined;
  readonly [name: string]: string | number | boolean | undefined;
}

export interface FailureOptions {
  readonly cause?: unknown;
  /** How long the other side asked us to stay away. */
  readonly retryAfterMs?: number | undefined;
  /** How often whoever reports it has tried, where that was more than once. */
  readonly tries?: number | undefined;
  /** Whoever tried has decided: it is recorded, and not judged a second time. */
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
    super(redact(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.tries = options.tries ?? 1;
    this.isFinal = options.isFinal ?? false;
    this.context = toldContext(options.context ?? {});
  }

  get kind(): FailureKind {
    return failures[this.code].kind;
  }
}

function toldContext(context: FailureContext): FailureContext {
  return context.url === undefined ? context : { ...context, url: redact(context.url) };
}

export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(failures, code);
}

/** Whether the engine tries again by itself. */
export function isRetried(code: FailureCode): boolean {
  const { kind } = failures[code];
  return kind === 'transient' || kind === 'rate_limited';
}

/** No fault of the document: its job is paused with this reason, and nothing of it fails. */
export const pauseReasons: Partial<Record<FailureCode, string>> = {
  budget_exhausted: 'budget_reached',
  provider_quota: 'quota_exhausted',
};

/**
 * Trouble of what all documents need, and of none of them: the document waits until it is over, and
 * spends no retry. What one document alone may bring about does not stand here: it would come again
 * without end.
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

/** A site defends itself: its domain is slowed down and the session is changed. */
export function isAntiBot(code: FailureCode): boolean {
  return antiBotCodes.includes(code);
}

/** What runtimes, networks and databases call their errors, in the order of the failure table. */
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
  // 53100 is Postgres for a full disk.
  storage_full: ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'],
  store_damaged: ['SQLITE_CORRUPT', 'SQLITE_NOTADB'],
  store_read_only: ['EROFS', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'],
  // Postgres: a NUL in a text, and one that is escaped in JSON.
  bad_request: ['22021', '22P05'],
  store_busy: [
    ...['SQLITE_BUSY', 'SQLITE_LOCKED'],
    // Postgres: serialization failure, deadlock, lock not available.
    ...['40001', '40P01', '55P03'],
    // Shut down, crashed, still starting, idle for too long.
    ...['57P01', '57P02', '57P03', '57P05', '25P03'],
    // Out of connections; a connection that broke; a server that only reads, after a failover.
    ...['53000', '53300', '08000', '08001', '08003', '08004', '08006', '25006'],
  ],
  machine_busy: [
    ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'],
    // Postgres: out of memory, and a statement that took longer than the server allows. One
    // document may bring these about by its size, so they are no outage.
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

/** `fetch` and drivers wrap the error that says what happened: so far down is it looked for. */
const causesMax = 8;

/** Exceptions become failures in one place. What is not recognized is a defect: never retried. */
export function toFailure(error: unknown): Failure {
  let inner = error;
  for (let depth = 0; depth < causesMax && inner instanceof Object; depth += 1) {
    // A failure below a wrapper keeps its code; one that was thrown as such passes unchanged.
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
  // Some parts of the runtime say so in words only.
  const { message } = error as { message?: unknown };
  return /too many open files|\bE[MN]FILE\b/.test(String(message)) ? 'machine_busy' : undefined;
}

function causeOf(error: object): unknown {
  if ('cause' in error && error.cause !== undefined) return error.cause;
  return error instanceof AggregateError ? error.errors[0] : undefined;
}

/** The wrapper says what was attempted, what it wraps says why it failed. */
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
    '| code | error code | kind | retried | HTTP | what it says | what you can do |',
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
  if (isOutage(code)) return 'until it is over';
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
  '| rate_limited | waits as long as it was asked to and tries again; this spends no retry |',
  '| transient | tries again after a growing, random time, up to the retries of the step; ' +
    'what is retried until it is over spends none |',
  '| schema_invalid | stops at once: the same input would give the same output |',
  '| fatal | stops at once |',
  '',
];
