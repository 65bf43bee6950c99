/**
 * Spans for tracing through several services, in the form of OpenTelemetry. A job is a trace whose
 * id is the job's own; a step is a span in it. Span attributes are named here and in the calls, and
 * contain no document text and no address.
 */
import { createHash } from 'node:crypto';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

export type Trace = (span: Span) => void;

/** One call of a model. */
export interface ModelCall {
  readonly operation: 'embeddings' | 'chat';
  readonly model: string;
  readonly texts: number;
  readonly tokens: number;
  /** If it responds in tokens. */
  readonly tokensOut?: number | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly isFailed: boolean;
}

/** The id of a job is a UUID, which has the length of a trace id. */
export function traceOfJob(jobKey: string): string {
  return /^[0-9a-f-]{36}$/.test(jobKey) ? jobKey.replaceAll('-', '') : idOf(jobKey, 32);
}

/** The same words give the same id, so a span that is sent twice is the same span. */
export function spanIdOf(...words: readonly (string | number)[]): string {
  return idOf(words.join(':'), 16);
}

function idOf(text: string, characters: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, characters);
}

export interface Parent {
  readonly traceId: string;
  readonly parentId: string;
}

/** The W3C header `traceparent`, or undefined if it is invalid. */
export function readTraceParent(text: string | undefined): Parent | undefined {
  const form = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
  const [, traceId = '', parentId = ''] = form.exec(text ?? '') ?? [];
  const isUsable = /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(parentId);
  return isUsable ? { traceId, parentId } : undefined;
}
