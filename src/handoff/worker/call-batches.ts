/**
 * The callbacks of one worker process, several in one request: those that are made while requests
 * are running share the next one. Each has its own response.
 */
import {
  Failure,
  type FailureCode,
  isFailureCode,
  toFailure,
} from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Json } from '../request.ts';
import type { Post } from './orchestrator-client.ts';

/** One callback: its job, and the body of one of its kinds. */
export type BatchedCall = { readonly job_id: string } & Readonly<
  Partial<Record<(typeof kinds)[number], Json>>
>;

const kinds = ['begin', 'heartbeat', 'complete'] as const;

interface Waiting {
  readonly call: BatchedCall;
  readonly size: number;
  readonly resolve: (reply: Json) => void;
  readonly reject: (error: unknown) => void;
}

export class CallBatches {
  readonly #post: Post;
  readonly #world: Pick<World, 'afterTurn'>;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(post: Post, world: Pick<World, 'afterTurn'>) {
    this.#post = post;
    this.#world = world;
  }

  /** Rejects like a request of its own would. */
  send(call: BatchedCall): Promise<Json> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, size: sizeOf(call), resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#running >= limits.handoff.callRequestsMax) return;
    this.#running += 1;
    this.#world.afterTurn(() => void this.#run());
  }

  async #run(): Promise<void> {
    const batch = this.#take();
    if (batch.length > 0) await this.#send(batch);
    this.#running -= 1;
    if (this.#waiting.length > 0) this.#schedule();
  }

  #take(): Waiting[] {
    const { callBatchMax, callBatchCharactersMax } = limits.handoff;
    let size = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      size += waiting.size;
      if (count > 0 && (count >= callBatchMax || size > callBatchCharactersMax)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    let replies: readonly unknown[];
    try {
      const body = await this.#post('/callbacks', { calls: batch.map(({ call }) => call) });
      replies = repliesIn(body, batch.length);
    } catch (cause) {
      const error = refusedBy(cause);
      // A refusal of the whole may be about one of them: each is sent alone.
      if (batch.length > 1 && refusals.has(error.code)) {
        for (const one of batch) await this.#send([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
      return;
    }
    for (const [index, one] of batch.entries()) {
      const reply = replies[index] as Readonly<Record<string, Json | undefined>>;
      const answer = kinds.map((kind) => reply[kind]).find((found) => found !== undefined);
      if (answer) one.resolve(answer);
      else if (reply.error) one.reject(refusalOf(reply.error));
      else if (batch.length > 1) await this.#send([one]);
      else one.reject(new Failure('network_error', 'the orchestrator gave no response'));
    }
  }
}

const refusals: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'bad_request',
  'payload_too_large',
]);

/** A job that is unknown is said of each callback: here the route is. */
function refusedBy(error: unknown): Failure {
  const failure = toFailure(error);
  if (failure.code !== 'job_unknown') return failure;
  const message = 'the orchestrator has no /callbacks: upgrade it before its workers';
  return new Failure('provider_unavailable', message, { cause: error });
}

function refusalOf({ code, detail }: Json): Failure {
  const isKnown = typeof code === 'string' && isFailureCode(code);
  const message = `the orchestrator refused a callback: ${String(detail)}`;
  return new Failure(isKnown ? code : 'bad_request', message);
}

function repliesIn({ replies }: Json, count: number): readonly unknown[] {
  if (Array.isArray(replies) && replies.length === count) return replies;
  throw new Failure('network_error', `the orchestrator did not answer ${count} callbacks`);
}

/** About: binary data dominates a large callback, and text the others. */
function sizeOf({ complete }: BatchedCall): number {
  if (!complete) return 0;
  const { bytes, result } = complete as { bytes?: string; result?: { parsed?: Json } };
  const { markdown } = (result?.parsed ?? {}) as { markdown?: string };
  return (bytes?.length ?? 0) + (markdown?.length ?? 0);
}
