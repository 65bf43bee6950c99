/**
 * A worker of a service. It takes ids from its queue, asks the orchestrator for the request, does
 * the work, and calls back. A reported failure is final, unless the worker asks for a retry: the
 * orchestrator then waits, visible to people (docs/decisions/0091). Standalone work, which no
 * orchestrator tracks, is retried here, by the same table.
 */
import { backoffMs, retryPolicyFor } from '../../kernel/backoff.ts';
import { Failure, isAntiBot, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { react } from '../../kernel/reaction.ts';
import { pause, type World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Consumer, Delivery, Queue, Settled } from '../../queue/queue.ts';
import type { ResponseStore } from '../../redis/response-store.ts';
import { keyOfMessage, type WorkerName } from '../orchestrator/broker.ts';
import type { Completed, Completion, OrchestratorClient } from '../orchestrator/callbacks.ts';
import type { Payloads } from '../payload.ts';
import {
  type HandoffRequest,
  isPaid,
  isRequestKind,
  type Json,
  type Reply,
  requestKinds,
  toWire,
} from '../request.ts';
import { RunLock } from './run-lock.ts';
import { Unconfigured, type Works } from './work.ts';

export interface WorkerOptions {
  readonly queue: Queue;
  readonly client: OrchestratorClient;
  readonly works: Works;
  readonly payloads: Payloads;
  /** Stores paid responses until the orchestrator has them. */
  readonly answers?: ResponseStore | undefined;
  readonly world: World;
  readonly worker: WorkerName;
  readonly places: number;
  readonly onError: (what: string, error: unknown) => void;
  /** Called for each try of a request, with its duration; waits between tries are not included. */
  readonly onTry?: ((tried: Tried) => void) | undefined;
}

export interface Tried {
  readonly kind: string;
  readonly durationMs: number;
}

type Packed = Pick<Completion, 'value' | 'bytes' | 'failure'>;

/** `leave`: it must be tried again, but by another worker. */
interface Next {
  readonly do: 'retry' | 'wait' | 'leave';
  readonly waitMs: number;
}

/** A reply, and whether the orchestrator is asked to retry its failure. */
interface Tested extends Reply {
  readonly isLeft?: boolean | undefined;
}

const finish: Settled = { do: 'finish' };

/** Workers have died on the request: it must run alone. */
interface Lone {
  readonly do: 'alone';
  readonly uptimeMs: number;
}

async function during<T>(end: () => void, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    end();
  }
}

export function startWorker(options: WorkerOptions): Promise<Consumer> {
  const { queue, places, onError } = options;
  const process = { runs: new RunLock(), startedAt: options.world.now() };
  return queue.consume({
    places,
    onError,
    run: (delivery) => new Run(options, process, delivery).run(),
  });
}

/** State shared by the runs of one process. */
interface WorkerProcess {
  readonly runs: RunLock;
  readonly startedAt: number;
}

class Run {
  readonly #options: WorkerOptions;
  readonly #process: WorkerProcess;
  readonly #delivery: Delivery;
  /** Each run of a process has its own name, so that runs are distinguishable. */
  readonly #worker: WorkerName;

  constructor(options: WorkerOptions, process: WorkerProcess, delivery: Delivery) {
    this.#options = options;
    this.#process = process;
    this.#delivery = delivery;
    const { worker, world } = options;
    this.#worker = { ...worker, id: `${worker.id}.${world.uuid().slice(-12)}` };
  }

  async run(): Promise<Settled> {
    const { message, signal } = this.#delivery;
    const { request } = message;
    const { runs, startedAt } = this.#process;
    const run = () =>
      request === undefined ? this.#runHandoff(false) : this.#runStandalone(request);
    const settled = await during(await runs.enter(signal), run);
    if (settled.do !== 'alone') return settled;
    const afterMs = settled.uptimeMs - (this.#options.world.now() - startedAt);
    if (afterMs > 0) return { do: 'again', afterMs };
    const again = await during(await runs.enterAlone(signal), () => this.#runHandoff(true));
    return again.do === 'alone' ? { do: 'again', afterMs: 0 } : again;
  }

  /** A request that the orchestrator tracks. */
  async #runHandoff(isAlone: boolean): Promise<Settled | Lone> {
    const { client, onError } = this.#options;
    const { message, signal } = this.#delivery;
    const { jobId = '', id } = message;
    const handoff = keyOfMessage(id);
    const begun = await this.#insist('orchestrator', () =>
      client.begin(jobId, handoff, this.#worker, isAlone),
    );
    if (begun.status === 'gone') return finish;
    if (begun.status === 'alone') return { do: 'alone', uptimeMs: begun.uptimeMs };
    const { epoch, kind } = begun;
    const given = new AbortController();
    const stopBeat = this.#keepBeating(jobId, { handoff, epoch }, given);
    const both = AbortSignal.any([signal, given.signal]);
    try {
      const { request, bytes } = begun;
      const kept = isPaid(kind) ? await this.#kept(handoff) : undefined;
      const reply = kept ?? (await this.#answer({ kind, request, bytes }, both, true));
      if (reply.failure instanceof Unconfigured && !isLastTry(begun)) {
        onError(kind, reply.failure);
        await client.beat(jobId, { handoff, epoch, isLeaving: true });
        return { do: 'again', afterMs: limits.handoff.declinedMs };
      }
      failpoint(this.#options.world, 'handoff.before-callback');
      const { status } = await this.#report(jobId, { handoff, epoch }, { kind, reply });
      // A late response was paid for: it is kept for the next worker.
      if (isPaid(kind) && status !== 'already_advanced') {
        await this.#options.answers?.remove(handoff);
      }
      return finish;
    } catch (error) {
      if (given.signal.aborted) return finish;
      if (!signal.aborted) throw error;
      const leaving = client.beat(jobId, { handoff, epoch, isLeaving: true });
      await leaving.catch((failure: unknown) => onError('handoff', failure));
      return { do: 'again', afterMs: 0 };
    } finally {
      stopBeat();
    }
  }

  /** Work that came with its message: only a named job is notified of the end. */
  async #runStandalone(request: Readonly<Record<string, unknown>>): Promise<Settled> {
    const { message, signal } = this.#delivery;
    const reply = await this.#answer({ kind: message.kind, request }, signal, false);
    if (message.jobId !== undefined) {
      await this.#report(message.jobId, {}, { kind: message.kind, reply });
    }
    return finish;
  }

  /** The reply, success or failure: throws only what ends the run itself. */
  async #answer(
    asked: Omit<HandoffRequest, 'kind'> & { kind: string },
    signal: AbortSignal,
    isKept: boolean,
  ): Promise<Tested> {
    const { world, works, payloads, onTry } = this.#options;
    const { kind } = asked;
    const work = isRequestKind(kind) ? works[kind] : undefined;
    for (let failed = 0; ; ) {
      const startedAt = world.now();
      let reply: Reply;
      try {
        if (!work || !isRequestKind(kind)) {
          throw new Failure('bad_request', `this service does not handle ${kind}`);
        }
        const progress = (done: number, total: number) => this.#progress(done, total);
        const payload = { value: asked.request, bytes: asked.bytes };
        const unpack = () => payloads.unpack(payload);
        const { value: request, bytes } = await this.#insist('blob store', unpack);
        reply = await work({ kind, request, bytes }, { signal, progress });
      } catch (error) {
        signal.throwIfAborted();
        reply = { value: {}, failure: toFailure(error) };
      }
      onTry?.({ kind, durationMs: world.now() - startedAt });
      const next = reply.failure && this.#next(kind, reply.failure, failed);
      if (!next || isKept || next.do === 'leave') {
        if (!reply.failure) return reply;
        const failure = this.#witnessed(reply.failure, failed + 1);
        return { ...reply, failure, isLeft: next !== undefined };
      }
      // A requested wait is not a failed try.
      if (next.do === 'retry') failed += 1;
      await pause(world, next.waitMs, signal);
      signal.throwIfAborted();
    }
  }

  /** When to retry here, and why; undefined if the failure is reported to the orchestrator. */
  #next(kind: string, failure: Failure, failedTries: number): Next | undefined {
    if (!isRequestKind(kind)) return undefined;
    const { world } = this.#options;
    const { stage } = requestKinds[kind];
    // A site with a rate limit or anti-bot protection slows down all of its pages: the orchestrator
    // does that.
    const isOfSite =
      stage === 'scraping' && (failure.kind === 'rate_limited' || isAntiBot(failure.code));
    const now = world.now();
    const reaction = react({
      outcome: { kind: failure.kind, failure },
      failedTries,
      now,
      random: () => world.random(),
      policy: retryPolicyFor(stage, failure.code),
    });
    if (reaction.do !== 'retry' && reaction.do !== 'wait') return undefined;
    const waitMs = reaction.dueAt - now;
    const isLong = reaction.do === 'wait' && waitMs > limits.handoff.waitMsMax;
    return { do: isOfSite || isLong ? 'leave' : reaction.do, waitMs };
  }

  /** Adds the worker and the number of tries to the failure. */
  #witnessed(failure: Failure, tries: number): Failure {
    if (failure instanceof Unconfigured) return failure;
    const { code, message, retryAfterMs, cause } = failure;
    const context = { ...failure.context, worker_id: this.#worker.id };
    return new Failure(code, message, { retryAfterMs, tries, cause, context });
  }

  async #report(
    jobId: string,
    claimed: Pick<Completion, 'handoff' | 'epoch'>,
    { kind, reply }: { kind: string; reply: Tested },
  ): Promise<Completed> {
    const { client } = this.#options;
    const stage = isRequestKind(kind) ? requestKinds[kind].stage : 'scraping';
    const complete = (packed: Packed) =>
      this.#insist('orchestrator', () => client.complete(jobId, { ...claimed, stage, ...packed }));
    try {
      const packed = await this.#packed(reply);
      await this.#keep(claimed.handoff, kind, packed);
      return await complete(packed);
    } catch (error) {
      this.#delivery.signal.throwIfAborted();
      // The response would be refused each time, so a failure is reported instead.
      return complete({ value: {}, failure: toWire(refusedAnswer(error)) });
    }
  }

  /** A response of a worker that died or left before it could report it. */
  async #kept(handoff: string): Promise<Reply | undefined> {
    const kept = await this.#options.answers?.read(handoff);
    if (kept === undefined) return undefined;
    const { value, bytes } = JSON.parse(kept) as { value: Json; bytes: string | null };
    return { value, bytes: bytes === null ? undefined : Buffer.from(bytes, 'base64') };
  }

  async #keep(handoff: string | undefined, kind: string, packed: Packed): Promise<void> {
    const { answers } = this.#options;
    if (!answers || handoff === undefined || packed.failure || !isPaid(kind)) return;
    const bytes = packed.bytes ? Buffer.from(packed.bytes).toString('base64') : null;
    await answers.write(handoff, JSON.stringify({ value: packed.value, bytes }));
  }

  /** A temporary outage of the blob store must not lose finished work. */
  async #packed(reply: Tested): Promise<Packed> {
    const { payloads } = this.#options;
    const { value, bytes } = await this.#insist('blob store', () => payloads.pack(reply));
    const { failure, isLeft } = reply;
    if (!failure) return { value, bytes };
    return { value, bytes, failure: { ...toWire(failure), ...(isLeft && { retry: true }) } };
  }

  /** Repeats a call until it is answered, or the time of the run is over. */
  async #insist<T>(whom: string, call: () => Promise<T>): Promise<T> {
    const { world, onError } = this.#options;
    const { signal } = this.#delivery;
    for (let failedTries = 0; ; failedTries++) {
      try {
        return await call();
      } catch (error) {
        if (signal.aborted || !isRetriedCall(error)) throw error;
        if (failedTries === 0) onError(whom, error);
        const random = () => world.random();
        await pause(world, backoffMs({ ...limits.handoff.callRetry, failedTries, random }), signal);
        signal.throwIfAborted();
      }
    }
  }

  #lastProgress: { done: number; total: number } | undefined;

  #progress(done: number, total: number): void {
    this.#lastProgress = { done, total };
  }

  /** Sends heartbeats until stopped; aborts the work when the orchestrator has given it up. */
  #keepBeating(
    jobId: string,
    claimed: { handoff: string; epoch: number },
    given: AbortController,
  ): () => void {
    const { client, world, onError } = this.#options;
    let cancel: () => void = () => undefined;
    const beat = (): void => {
      client.beat(jobId, { ...claimed, progress: this.#lastProgress }).then(
        (isWanted) => {
          if (!isWanted) given.abort(new Failure('lease_lost', 'another worker has the request'));
        },
        (error: unknown) => onError('heartbeat', error),
      );
      cancel = world.setTimer(beat, limits.handoff.beatMs);
    };
    cancel = world.setTimer(beat, limits.handoff.beatMs);
    return () => cancel();
  }
}

/** So many workers had it that none seems to be configured for it. */
function isLastTry({ releases = 0 }: { readonly releases?: number | undefined }): boolean {
  return releases >= limits.handoff.declinesMax;
}

/** Whether the orchestrator may accept the same call later: it did not refuse it. */
function isRetriedCall(error: unknown): boolean {
  const { kind } = toFailure(error);
  return kind === 'transient' || kind === 'rate_limited';
}

function refusedAnswer(error: unknown): Failure {
  const failure = toFailure(error);
  if (failure.code !== 'payload_too_large') return failure;
  const message = `the page and its text are too large to be sent: ${failure.message}`;
  return new Failure('source_too_large', message, { cause: error });
}
