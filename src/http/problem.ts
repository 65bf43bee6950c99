/** Failures as `application/problem+json`. Internal details are not sent. */

import type { Problem } from '../contract/schema/schema.ts';
import { Failure, type FailureCode, failures, toFailure } from '../kernel/failure/failure.ts';

/** Error codes of the server and its plugins. */
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

/** The form parser gives its errors no code. */
const brokenForm = /^Multipart: Boundary not found$|unexpected end of multipart data$/i;

/** Of other errors, only these have messages that help the caller. */
const publicCodes: ReadonlySet<FailureCode> = new Set([
  'storage_full',
  'storage_failed',
  'store_busy',
  'machine_busy',
]);

/** Converts any thrown value to a failure whose message is safe to send. */
export function toPublicFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { code, statusCode, message } = (error ?? {}) as Record<string, unknown>;
  const known = typeof code === 'string' ? codesOfServer[code] : undefined;
  if (known) return new Failure(known, failures[known].advice, { cause: error });
  if (code === undefined && brokenForm.test(String(message))) {
    const advice = 'the multipart body has no boundary, or is incomplete';
    return new Failure('bad_request', advice, { cause: error });
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Failure('bad_request', String(message), { cause: error });
  }
  const failure = toFailure(error);
  const shown = publicCodes.has(failure.code) ? failure.code : 'internal_error';
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

/** The `Retry-After` value, for responses that need it. */
export function retryAfterOf(failure: Failure): number | undefined {
  const { retryAfterMs, code } = failure;
  if (retryAfterMs !== undefined) return Math.max(Math.ceil(retryAfterMs / 1000), 1);
  const { httpStatus } = failures[code];
  return httpStatus === 429 || httpStatus === 503 ? defaultRetrySeconds : undefined;
}
