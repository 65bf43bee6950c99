/**
 * What a step can ask of a service, and what comes back. A question and its answer are a JSON value
 * each, and perhaps bytes beside it; the table says which service answers what.
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
  /** A page with its site's rules, and its text where that can be had at once. */
  visit: scraper,
  /** What a site says beside its pages: robots.txt, sitemaps. */
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

/** What a provider may charge for. */
const paidKinds: ReadonlySet<string> = new Set<RequestKind>(['embed', 'complete']);

export function isPaid(kind: string): boolean {
  return paidKinds.has(kind);
}

export type Json = Readonly<Record<string, unknown>>;

export interface Question {
  readonly kind: RequestKind;
  readonly request: Json;
  readonly bytes?: Uint8Array | undefined;
}

export interface Reply {
  readonly value: Json;
  readonly bytes?: Uint8Array | undefined;
  /** It failed, and `value` is what was learned all the same. */
  readonly failure?: Failure | undefined;
}

/** The reply, or what it says went wrong. */
export function answered(reply: Reply): Reply {
  if (reply.failure) throw reply.failure;
  return reply;
}

/**
 * Two questions of one step are the same if nothing in them differs. What happens to be known of a
 * site's rules goes along, and is not asked: it may be newer the next time.
 */
export function hashOf({ kind, request, bytes }: Question): string {
  const asked = kind === 'visit' ? { ...request, robots: undefined } : request;
  const hash = createHash('sha256').update(`${kind}\0${JSON.stringify(asked)}\0`);
  return hash.update(bytes ?? '').digest('hex');
}

/** What ends each stage, in the table of stages. */
const endOf = { scraping: 'scrape', chunking: 'chunk', embedding: 'embed' } as const;

export function stageAfter(done: Stage): StageState {
  return transition(stage, done, endOf[done]) ?? done;
}

/** A failure on its way between processes. */
export interface WireFailure {
  readonly code: string;
  readonly message: string;
  readonly retry_after_ms?: number | undefined;
  readonly tries?: number | undefined;
  /** The orchestrator is to try again, by its own rules; a time to wait asks for the same. */
  readonly retry?: boolean | undefined;
  /** Where it happened, and who tried. */
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

/** A code that the table does not have is a failure all the same, and its name is kept. */
export function fromWire(wire: WireFailure): Failure {
  const isKnown = isFailureCode(wire.code);
  const code: FailureCode = isKnown ? (wire.code as FailureCode) : 'max_retries_exceeded';
  const message = isKnown ? wire.message : `${wire.code}: ${wire.message}`;
  const { retry_after_ms: retryAfterMs, tries, context } = wire;
  return new Failure(code, message, { retryAfterMs, tries, context });
}

/** What a callback says went wrong is recorded as it says: it is over, unless it asks for more. */
export function verdictOf(wire: WireFailure): Failure {
  const { code, message, retryAfterMs, tries, context } = fromWire(wire);
  const isFinal = wire.retry !== true && retryAfterMs === undefined;
  return new Failure(code, message, { retryAfterMs, tries, context, isFinal });
}
