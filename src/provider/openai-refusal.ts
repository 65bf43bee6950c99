/** Maps error responses of an OpenAI-compatible server to failures. */
import { Failure, type FailureCode, type FailureOptions } from '../kernel/failure/failure.ts';

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Asker {
  /** The name of the server, for messages. */
  readonly host: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly texts: readonly string[];
  readonly now: number;
}

interface Reading {
  readonly code: FailureCode;
  readonly isInput?: boolean;
}

/** By exact status; other statuses are mapped by class. */
const readings: Readonly<Record<number, Reading>> = {
  400: { code: 'provider_bad_request', isInput: true },
  401: { code: 'provider_auth' },
  402: { code: 'provider_quota' },
  403: { code: 'provider_auth' },
  408: { code: 'provider_unavailable' },
  409: { code: 'provider_unavailable' },
  413: { code: 'provider_bad_request', isInput: true },
  422: { code: 'provider_bad_request', isInput: true },
  425: { code: 'provider_unavailable' },
  429: { code: 'rate_limited' },
};
const quotaCodes = ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'];

export function readRefusal(refusal: Refusal, asker: Asker): Failure {
  const { status } = refusal;
  const said = readBody(refusal.body);
  const { code, isInput = false } = readingOf(status, said);
  const message = `${asker.host} answered ${status} for ${asker.model}${wordsOf(said, asker)}`;
  const options: FailureOptions = {
    retryAfterMs: askedWaitMs(refusal.headers, asker.now),
    context: { provider: asker.host, model: asker.model, status, ...(isInput && { isInput }) },
  };
  return new Failure(code, message, options);
}

function readingOf(status: number, { code, type, message }: Said): Reading {
  if (status === 429 && quotaCodes.some((quota) => quota === code || quota === type)) {
    return { code: 'provider_quota' };
  }
  const exact = readings[status];
  if (exact) return exact;
  if (status < 500) return { code: 'provider_bad_request' };
  return { code: /out of memory/i.test(message) ? 'gpu_oom' : 'provider_unavailable' };
}

interface Said {
  readonly message: string;
  readonly code: unknown;
  readonly type: unknown;
}

/**
 * OpenAI sends `{ error: { message, code, type } }`. Others send less, or elsewhere: Voyage and
 * Jina `{ detail }`, Mistral `{ detail: [{ loc, msg }] }`, also inside of `message`.
 */
function readBody(body: string): Said {
  const nothing = { message: '', code: undefined, type: undefined };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // A page from a proxy: the status is enough.
    return nothing;
  }
  if (!(value instanceof Object)) return nothing;
  const { error, message, detail } = value as Record<string, unknown>;
  if (typeof error === 'string') return { ...nothing, message: error };
  if (!(error instanceof Object)) {
    const inner = message instanceof Object && 'detail' in message ? message.detail : detail;
    return { ...nothing, message: typeof message === 'string' ? message : detailOf(inner) };
  }
  const inner = error as Record<string, unknown>;
  const text = typeof inner.message === 'string' ? inner.message : '';
  return { message: text, code: inner.code, type: inner.type };
}

/** Without the values of the fields, which may be texts. */
function detailOf(detail: unknown): string {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return '';
  const wrong = detail.map((each: { loc?: unknown; msg?: unknown } | null) => {
    const place = Array.isArray(each?.loc) ? each.loc.join('.') : '';
    return typeof each?.msg === 'string' ? `${place} ${each.msg}`.trim() : '';
  });
  return wrong.filter(Boolean).join('; ');
}

const wordsMax = 300;
const echoCharacters = 24;
const keyLike = /\b(?:sk|pk|key|api)[-_][\w*-]{6,}/gi;

/** Servers repeat their input: the key and the text of a document are removed here. */
function wordsOf({ message }: Said, { key, texts }: Asker): string {
  const plain = (key ? message.replaceAll(key, '[key]') : message).replace(keyLike, '[key]');
  const isEcho = texts.some((text) => {
    const start = text.trim().slice(0, echoCharacters);
    return start.length === echoCharacters && plain.includes(start);
  });
  return plain === '' || isEcho ? '' : `: ${plain.slice(0, wordsMax)}`;
}

type Headers = Refusal['headers'];

/** The longest wait that the server names: an earlier request would fail again. */
export function askedWaitMs(headers: Headers, now: number): number | undefined {
  const asked = [
    milliseconds(one(headers, 'retry-after-ms')),
    secondsOrDate(one(headers, 'retry-after'), now),
  ].filter((time) => time !== undefined);
  if (asked.length > 0) return Math.max(...asked);
  const resets = (['requests', 'tokens'] as const).flatMap((kind) => {
    const isSpent = one(headers, `x-ratelimit-remaining-${kind}`)?.trim() === '0';
    const reset = spanMs(one(headers, `x-ratelimit-reset-${kind}`));
    return isSpent && reset !== undefined ? [reset] : [];
  });
  return resets.length > 0 ? Math.max(...resets) : undefined;
}

function one(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function milliseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function secondsOrDate(text: string | undefined, now: number): number | undefined {
  const seconds = milliseconds(text);
  if (seconds !== undefined) return seconds * 1000;
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1s`, `6m0s`, `120ms`. */
export function spanMs(text: string | undefined): number | undefined {
  // Longer than any duration; bounds the backtracking over a long number.
  const span = text?.trim().slice(0, 64) ?? '';
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const isWhole = parts.map(([part]) => part).join('') === text?.trim();
  if (parts.length === 0 || !isWhole) return undefined;
  return parts.reduce((sum, [, value, unit]) => sum + Number(value) * (unitMs[unit ?? ''] ?? 0), 0);
}
