/**
 * Requests of a step to a service, and their responses. Each is a JSON value, optionally with
 * bytes; the table says which service handles which kind.
 */
import { createHash } from 'node:crypto';
import {
  Failure,
  type FailureCode,
  type FailureContext,
  isFailureCode,
} from '../kernel/failure/failure.ts';
import { transition } from '../kernel/lifecycle/machine.ts';
import { type Stage, type StageState, stage } from '../kernel/lifecycle/stage.ts';
import { limits } from '../kernel/limits/limits.ts';

export type QueueName = 'scrape_jobs' | 'embed_jobs';

interface KindRow {
  readonly stage: Stage;
  readonly queue: QueueName;
}

const scraper = { stage: 'scraping', queue: 'scrape_jobs' } as const;
const embedding = { stage: 'embedding', queue: 'embed_jobs' } as const;

export const requestKinds = {
  /** A page with its site's rules, and its text if it is cheap to extract. */
  visit: scraper,
  /** Files of a site beside its pages: robots.txt, sitemaps. */
  get: scraper,
  parse: scraper,
  embed: embedding,
  entities: embedding,
  complete: embedding,
} as const satisfies Record<string, KindRow>;

export type RequestKind = keyof typeof requestKinds;

export function isRequestKind(kind: string): kind is RequestKind {
  return Object.hasOwn(requestKinds, kind);
}

/** Kinds that a provider may charge for. */
const paidKinds: ReadonlySet<string> = new Set<RequestKind>(['embed', 'complete']);

export function isPaid(kind: string): boolean {
  return paidKinds.has(kind);
}

export type Json = Readonly<Record<string, unknown>>;

export interface HandoffRequest {
  readonly kind: RequestKind;
  readonly request: Json;
  readonly bytes?: Uint8Array | undefined;
}

export interface Reply {
  readonly value: Json;
  readonly bytes?: Uint8Array | undefined;
  /** It failed; `value` holds what was learned anyway. */
  readonly failure?: Failure | undefined;
}

/** Returns the reply, or throws its failure. */
export function answered(reply: Reply): Reply {
  if (reply.failure) throw reply.failure;
  return reply;
}

/**
 * Two requests of one step are the same if all their fields are equal. The known rules of a site
 * are sent along but not compared: they may be newer the next time.
 */
export function hashOf({ kind, request, bytes }: HandoffRequest): string {
  const asked = kind === 'visit' ? { ...request, robots: undefined } : request;
  const hash = createHash('sha256').update(`${kind}\0${JSON.stringify(asked)}\0`);
  return hash.update(bytes ?? '').digest('hex');
}

/** What ends each stage, in the table of stages. */
const endOf = { scraping: 'scrape', chunking: 'chunk', embedding: 'embed' } as const;

export function stageAfter(done: Stage): StageState {
  return transition(stage, done, endOf[done]) ?? done;
}

/** A failure as sent between processes. */
export interface WireFailure {
  readonly code: string;
  readonly message: string;
  readonly retry_after_ms?: number | undefined;
  readonly tries?: number | undefined;
  /** Asks the orchestrator to retry, by its own rules; a wait time implies the same. */
  readonly retry?: boolean | undefined;
  /** Where it happened, and which worker tried. */
  readonly context?: FailureContext | undefined;
}

export function toWire({ code, message, retryAfterMs, tries, context }: Failure): WireFailure {
  return {
    code,
    message: message.slice(0, limits.handoff.messageCharactersMax),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    ...(tries > 1 && { tries }),
    ...(Object.keys(context).length > 0 && { context }),
  };
}

/** An unknown code is still a failure, and its name is kept. */
export function fromWire(wire: WireFailure): Failure {
  const isKnown = isFailureCode(wire.code);
  const code: FailureCode = isKnown ? (wire.code as FailureCode) : 'max_retries_exceeded';
  const message = isKnown ? wire.message : `${wire.code}: ${wire.message}`;
  const { retry_after_ms: retryAfterMs, tries, context } = wire;
  return new Failure(code, message, { retryAfterMs, tries, context });
}

/** A failure reported by a callback is final, unless it asks for a retry. */
export function verdictOf(wire: WireFailure): Failure {
  const { code, message, retryAfterMs, tries, context } = fromWire(wire);
  const isFinal = wire.retry !== true && retryAfterMs === undefined;
  return new Failure(code, message, { retryAfterMs, tries, context, isFinal });
}
