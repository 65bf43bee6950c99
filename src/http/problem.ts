/** Failures as `application/problem+json`. What is not meant for the caller is not told. */

import type { Problem } from '../contract/schema/schema.ts';
import { Failure, type FailureCode, failures, toFailure } from '../kernel/failure/failure.ts';

/** What the server and its plugins call their errors. */
const codesOfServer: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content_type_unsupported',
  FST_ERR_BAD_URL: 'route_unknown',
  FST_ERR_NOT_FOUND: 'route_unknown',
  FST_REQ_FILE_TOO_LARGE: 'source_too_large',
  FST_FILES_LIMIT: 'too_many_sources',
  FST_PARTS_LIMIT: 'payload_too_large',
  FST_FIELDS_LIMIT: 'payload_too_large',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'content_type_unsupported',
};

/** The parser of forms gives its errors no code. */
const brokenForm = /^Multipart: Boundary not found$|unexpected end of multipart data$/i;

/** Of other errors, only these say something that the caller can use. */
const told: ReadonlySet<FailureCode> = new Set([
  'storage_full',
  'storage_failed',
  'store_busy',
  'machine_busy',
]);

/** Whatever was thrown, as a failure whose message may be read by anybody. */
export function toTold(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { code, statusCode, message } = (error ?? {}) as Record<string, unknown>;
  const known = typeof code === 'string' ? codesOfServer[code] : undefined;
  if (known) return new Failure(known, failures[known].advice, { cause: error });
  if (code === undefined && brokenForm.test(String(message))) {
    const advice = 'the multipart body has no boundary, or does not come to its end';
    return new Failure('bad_request', advice, { cause: error });
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Failure('bad_request', String(message), { cause: error });
  }
  const failure = toFailure(error);
  const shown = told.has(failure.code) ? failure.code : 'internal_error';
  return new Failure(shown, failures[shown].advice, { cause: error });
}

export function problemOf(failure: Failure, requestId: string): Problem {
  const { httpStatus, title } = failures[failure.code];
  return {
    type: `/docs#${failure.code}`,
    title,
    status: httpStatus,
    detail: failure.message,
    code: failure.code,
    request_id: requestId,
  };
}

const defaultRetrySeconds = 30;

/** When to come back, for those answers that ask to. */
export function retryAfterOf(failure: Failure): number | undefined {
  const { retryAfterMs, code } = failure;
  if (retryAfterMs !== undefined) return Math.max(Math.ceil(retryAfterMs / 1000), 1);
  const { httpStatus } = failures[code];
  return httpStatus === 429 || httpStatus === 503 ? defaultRetrySeconds : undefined;
}
