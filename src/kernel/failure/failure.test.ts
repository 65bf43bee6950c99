import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { limits } from '../limits/limits.ts';
import {
  Failure,
  type FailureCode,
  type FailureKind,
  failures,
  failuresPage,
  isAntiBot,
  isFailureCode,
  isOutage,
  isRetried,
  toFailure,
} from './failure.ts';
import { failureGroups } from './table.ts';

const codes = Object.keys(failures) as FailureCode[];
const kinds: readonly FailureKind[] = ['rate_limited', 'transient', 'schema_invalid', 'fatal'];

test('every row is complete: a known kind, a plausible status, a title and advice', () => {
  for (const code of codes) {
    const { kind, httpStatus, errorCode, title, advice } = failures[code];
    assert.ok(kinds.includes(kind), code);
    assert.ok(Number.isInteger(httpStatus) && httpStatus >= 400 && httpStatus <= 504, code);
    assert.match(errorCode, /^E_[A-Z0-9]+(_[A-Z0-9]+)*$/, code);
    assert.match(title, /^[A-Z].{2,40}[^.]$/, code);
    assert.match(advice, /^[A-Z].{10,110}\.$/, code);
  }
});

test('codes are snake case, and no code is in two groups', () => {
  const grouped = Object.values(failureGroups).flatMap((group) => Object.keys(group));
  assert.equal(new Set(grouped).size, grouped.length);
  assert.deepEqual(grouped.toSorted(), codes.toSorted());
  for (const code of codes) assert.match(code, /^[a-z0-9]+(_[a-z0-9]+)*$/);
});

test('a failure is retried if and only if it is transient or rate limited', () => {
  for (const code of codes) {
    const expected = ['transient', 'rate_limited'].includes(failures[code].kind);
    assert.equal(isRetried(code), expected, code);
  }
});

test('a status of 429 refers to the caller, and is always a rate limit', () => {
  for (const code of codes.filter((name) => failures[name].httpStatus === 429)) {
    assert.equal(failures[code].kind, 'rate_limited', code);
  }
});

test('the permanent classes are never retried, the transient ones and anti-bot signals are', () => {
  const permanent: FailureCode[] = [
    ...(['invalid_url', 'robots_disallowed', 'parse_error_strict'] as const),
    ...(['unsupported_mime', 'bad_request', 'max_retries_exceeded'] as const),
  ];
  const transient: FailureCode[] = [
    ...(['network_error', 'rate_limited', 'browser_crash', 'timeout_soft'] as const),
    ...(['qdrant_unavailable', 'neo4j_write_lock', 'gpu_oom', 'http_5xx', 'http_429'] as const),
    ...codes.filter(isAntiBot),
  ];
  for (const code of permanent) assert.equal(isRetried(code), false, code);
  for (const code of transient) assert.equal(isRetried(code), true, code);
  assert.deepEqual(codes.filter(isAntiBot), ['captcha', '403_waf', '503_shield']);
});

test('an outage affects all documents, and is retried until it ends', () => {
  const outages = codes.filter(isOutage);
  assert.deepEqual(outages.toSorted(), [
    ...['neo4j_unavailable', 'qdrant_unavailable', 'queue_unavailable'],
    ...['storage_failed', 'storage_full', 'store_busy', 'store_gone', 'store_read_only'],
  ]);
  for (const code of outages) assert.equal(failures[code].kind, 'transient', code);
  // A condition that one document can cause has a bounded number of retries.
  const own: readonly FailureCode[] = [
    ...(['replaced_meanwhile', 'qdrant_failed', 'neo4j_failed', 'machine_busy'] as const),
  ];
  for (const code of own) assert.deepEqual([isOutage(code), isRetried(code)], [false, true], code);
  assert.match(failuresPage(), /`store_busy`.*\| transient \| until it ends \|/);
});

test('every error code that external tools group by is used', () => {
  const used = new Set<string>(codes.map((code) => failures[code].errorCode));
  const promised = [
    ...['E_URL_BAD', 'E_ROBOTS', 'E_403_WAF', 'E_429_RATE', 'E_5XX_ORIGIN', 'E_PARSE'],
    ...['E_TIMEOUT', 'E_BROWSER', 'E_QDRANT', 'E_NEO4J', 'E_GPU_OOM'],
  ];
  for (const errorCode of promised) assert.ok(used.has(errorCode), errorCode);
});

test('only signs of a firewall give the firewall code', () => {
  const walls = codes.filter((code) => failures[code].errorCode === 'E_403_WAF');
  assert.deepEqual(walls, ['403_waf']);
  assert.equal(failures.http_403.errorCode, 'E_403_ORIGIN');
});

test('a failure carries its kind, cause, wait and context', () => {
  const cause = new Error('refused');
  const context = { domain: 'example.com', attempt: 2 };
  const failure = new Failure('http_429', 'slow down', { cause, retryAfterMs: 5, context });
  assert.equal(failure.kind, 'rate_limited');
  assert.equal(failure.name, 'Failure');
  assert.equal(failure.cause, cause);
  assert.equal(failure.retryAfterMs, 5);
  assert.deepEqual(failure.context, context);
  assert.equal('cause' in new Failure('http_429', 'slow down'), false);
});

test('a failure passes through unchanged, also inside a wrapper', () => {
  const failure = new Failure('captcha', 'a captcha was shown');
  assert.equal(toFailure(failure), failure);
  assert.equal(toFailure(new Error('fetching', { cause: failure })), failure);
});

const withCode = (code: string): Error => Object.assign(new Error(`it said ${code}`), { code });

const recognized: Partial<Record<FailureCode, readonly Error[]>> = {
  timeout_soft: [
    new DOMException('The operation was aborted', 'AbortError'),
    new DOMException('The operation timed out', 'TimeoutError'),
    withCode('UND_ERR_HEADERS_TIMEOUT'),
  ],
  network_error: ['ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE'].map(
    withCode,
  ),
  connection_timeout: [withCode('UND_ERR_CONNECT_TIMEOUT')],
  certificate_invalid: [withCode('CERT_HAS_EXPIRED')],
  storage_full: ['ENOSPC', 'SQLITE_FULL', '53100'].map(withCode),
  store_busy: ['SQLITE_BUSY', '40001', '40P01', '57P01', '57P02', '08006', '25006'].map(withCode),
  source_missing: [withCode('ENOENT')],
  source_unreadable: ['EACCES', 'EPERM', 'EISDIR'].map(withCode),
  machine_busy: ['EMFILE', 'ENOMEM', '53200', '57014'].map(withCode),
};

test('errors of runtimes, networks and databases become the right failure', () => {
  for (const [code, errors] of Object.entries(recognized)) {
    for (const error of errors) {
      const failure = toFailure(error);
      assert.equal(failure.code, code, String(error));
      assert.equal(failure.cause, error);
      assert.equal(failure.message, error.message);
    }
  }
});

test('a wrapped error is recognized by its cause, and both messages are kept', () => {
  const wrapped = new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') });
  assert.equal(toFailure(wrapped).code, 'network_error');
  assert.equal(toFailure(wrapped).message, 'fetch failed: it said ECONNREFUSED');
  const several = new AggregateError([withCode('ENOTFOUND'), withCode('ECONNRESET')], 'all failed');
  assert.equal(toFailure(several).code, 'network_error');
});

test('real errors of the runtime are recognized', () => {
  assert.equal(toFailure(thrownBy(() => readFileSync('/no/such/file'))).code, 'source_missing');
  assert.equal(toFailure(thrownBy(() => readFileSync('/'))).code, 'source_unreadable');
  assert.equal(toFailure(thrownBy(() => new URL('not a url'))).code, 'invalid_url');
  assert.equal(
    toFailure(thrownBy(() => AbortSignal.abort().throwIfAborted())).code,
    'timeout_soft',
  );
});

test('a full SQLite database is recognized by its number', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA max_page_count = 2; CREATE TABLE blob (bytes BLOB)');
  const error = thrownBy(() => database.exec('INSERT INTO blob VALUES (zeroblob(1000000))'));
  assert.equal(toFailure(error).code, 'storage_full');
  const busy = Object.assign(new Error('busy'), { code: 'ERR_SQLITE_ERROR', errcode: 261 });
  assert.equal(toFailure(busy).code, 'store_busy');
});

test('an unrecognized error is a defect: fatal, with its cause', () => {
  const loop: Error & { cause?: unknown } = new Error('circular');
  loop.cause = loop;
  for (const thrown of [new TypeError('x is undefined'), 'text', 7, null, undefined, {}, loop]) {
    const failure = toFailure(thrown);
    assert.equal(failure.code, 'internal_error');
    assert.equal(failure.kind, 'fatal');
    assert.equal(failure.cause, thrown);
  }
  assert.equal(toFailure('text').message, 'text');
});

test('isFailureCode refuses unknown words and property names of every object', () => {
  assert.equal(isFailureCode('http_403'), true);
  assert.equal(isFailureCode('http_418'), false);
  assert.equal(isFailureCode('constructor'), false);
});

test('the page has one row for every code', () => {
  const page = failuresPage();
  for (const code of codes) assert.equal(page.split(`| \`${code}\` |`).length, 2, code);
  assert.ok(page.endsWith('|\n'));
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

test('a long message loses its middle, and nothing secret', () => {
  const secret = `https://ann:${'s'.repeat(3000)}@example.com/a?key=${'s'.repeat(3000)}`;
  const { message } = new Failure('bad_request', `no ${'x'.repeat(5000)} ${secret} ends here`);
  assert.equal(message.length, limits.failure.messageCharactersMax);
  assert.match(message, /^no x+…x+ https:\/\/example\.com\/a\?key=… ends here$/);
  const pairs = new Failure('bad_request', '\u{1f600}'.repeat(5000)).message;
  assert.ok(pairs.isWellFormed());
});
