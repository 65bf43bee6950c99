/**
 * What was done when, for those who follow it through several services: spans, as OpenTelemetry has
 * them. A job is a trace whose id is the job's own; a step is a span in it. What is told of a span
 * is named here and in the calls, and none of it is text of a document or an address.
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

/** Told of each call of a model. */
export interface ModelCall {
  readonly operation: 'embeddings' | 'chat';
  readonly model: string;
  readonly texts: number;
  readonly tokens: number;
  /** Where it answers in tokens. */
  readonly tokensOut?: number | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly isFailed: boolean;
}

/** The id of a job is a UUID, which is as long as the id of a trace. */
export function traceOfJob(jobKey: string): string {
  return /^[0-9a-f-]{36}$/.test(jobKey) ? jobKey.replaceAll('-', '') : idOf(jobKey, 32);
}

/** The same words give the same id: whoever tells a span twice tells the same one. */
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

/** The W3C header `traceparent`, or undefined where it is not one. */
export function readTraceParent(text: string | undefined): Parent | undefined {
  const form = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
  const [, traceId = '', parentId = ''] = form.exec(text ?? '') ?? [];
  const isUsable = /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(parentId);
  return isUsable ? { traceId, parentId } : undefined;
}
