/**
 * The orchestrator's side of handoffs. A step sends a request and waits here, while the lease of
 * its item is held as usual. The request is first written to disk, then its id is put on the queue
 * of the service; the response is on disk before the step receives it. Queues carry only
 * notifications: a lost message is sent again, a duplicate finds the request taken, and a dead
 * worker is replaced.
 */
import type { AbortReason } from '../../engine/item/executor.ts';
import type { Liveness } from '../../engine/item/liveness.ts';
import { whyDead } from '../../engine/item/rescuer.ts';
import { Loop } from '../../engine/loop.ts';
import { Failure, isRetried, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { PipelineItem, StepContext } from '../../pipeline/pipeline.ts';
import type { Queue } from '../../queue/queue.ts';
import { CommitGroup } from '../../store/driver/commit-group.ts';
import type { Database } from '../../store/driver/database.ts';
import { sweepAlone } from '../../store/driver/sweep-lock.ts';
import {
  type HandoffState,
  identityOf,
  listHandoffStates,
  listUnbegun,
  type NewHandoff,
  openHandoffs,
  pruneHandoffs,
  readAnswer,
  releaseHandoff,
  removeHandoff,
  removeUnwanted,
  withdrawHandoff,
} from '../../store/handoff/handoffs.ts';
import type { Payloads } from '../payload.ts';
import {
  type HandoffRequest,
  hashOf,
  type Json,
  type QueueName,
  type Reply,
  requestKinds,
  verdictOf,
  type WireFailure,
} from '../request.ts';
import { type OpenPage, type OpenRequests, Refill } from './refill.ts';

export interface HandoffBrokerOptions {
  readonly database: Database;
  readonly world: World;
  readonly liveness: Liveness;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  readonly payloads: Payloads;
  readonly onError: (what: string, error: unknown) => void;
}

export interface RequestContext {
  readonly item: Pick<PipelineItem, 'id' | 'jobId'>;
  readonly jobKey: string;
  readonly step: string;
  readonly signal: AbortSignal;
  readonly progress: StepContext['progress'];
}

/** Identifies the worker of a request, so that another process on its machine can see its death. */
export interface WorkerName {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly process_started: string;
}

/** The stored part of a response. */
export interface StoredResponse {
  readonly value: Json;
  readonly failure?: WireFailure | undefined;
}

interface Waiting {
  readonly request: HandoffRequest;
  readonly context: RequestContext;
  key: string;
  /** When it was sent, or last had a worker. */
  askedAt: number;
  /** When its id was last put on the queue. */
  queuedAt: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export class HandoffBroker {
  readonly #options: HandoffBrokerOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Requests that are not on disk yet, because the store is away. */
  readonly #unopened = new Set<Waiting>();
  /** When this process last saw the store, and since when without interruption. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #seenSince = Number.NEGATIVE_INFINITY;
  readonly #opens: CommitGroup<NewHandoff, HandoffState>;
  readonly #refill: Refill;
  readonly #loops: readonly Loop[];

  constructor(options: HandoffBrokerOptions) {
    this.#options = options;
    const { world, onError, database } = options;
    this.#opens = new CommitGroup<NewHandoff, HandoffState>({
      database,
      world,
      sizeMax: limits.handoff.commitBatchMax,
      keyOf: identityOf,
      apply: async (transaction, handoffs) => {
        const states = await openHandoffs(transaction, handoffs, database.now());
        return states.map((value) => ({ value }));
      },
    });
    this.#refill = new Refill({
      queues: Object.values(options.queues),
      world,
      onError,
      requests: { list: (page) => openRequests(database, page) },
    });
    const loop = (name: string, intervalMs: number, runOnce: () => Promise<void>): Loop =>
      new Loop({ name, intervalMs, world, onError, runOnce });
    this.#loops = [
      loop('handoffs', limits.handoff.lookMs, () => this.#look()),
      loop('old handoffs', limits.loop.sweepIntervalMs, () =>
        sweepAlone(options.database, 'handoffs', () => this.#prune()),
      ),
    ];
  }

  start(): void {
    this.#refill.start();
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#refill, ...this.#loops].map((loop) => loop.stop()));
  }

  /** Resolves with the response of any worker. An abort leaves the request to the next holder. */
  async ask(request: HandoffRequest, context: RequestContext): Promise<Reply> {
    const { signal } = context;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const now = this.#options.world.now();
    const waiting: Waiting = {
      request,
      context,
      resolve,
      reject,
      key: '',
      askedAt: now,
      queuedAt: now,
    };
    const abort = (): void => {
      reject(signal.reason);
      // While it is being written it has no key; the writer then gives it up.
      if (waiting.key !== '') void this.#giveUp(waiting);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      // Both at once: an abort while the request is being written must be noticed.
      return await Promise.race([promise, this.#tryOpen(waiting).then(() => promise)]);
    } finally {
      signal.removeEventListener('abort', abort);
      this.#unopened.delete(waiting);
      if (this.#waiting.get(waiting.key) === waiting) this.#waiting.delete(waiting.key);
    }
  }

  /** An open request of this process. */
  requestOf(key: string): HandoffRequest | undefined {
    return this.#waiting.get(key)?.request;
  }

  /** This process has stored a response. */
  answer(key: string, reply: Reply): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    this.#deliver(waiting, reply).catch((error) => this.#options.onError('handoff', error));
  }

  progress(key: string, done: number, total: number): void {
    this.#waiting.get(key)?.context.progress(done, total);
  }

  /** Why the worker of a request counts as dead; undefined while it is alive. */
  #whyDead({ worker, beat_at }: HandoffState): string | undefined {
    const { liveness, database } = this.#options;
    if (worker === null) return 'no worker has begun';
    const now = database.now();
    const silentMs = now - Math.max(beat_at ?? 0, this.#heardSince(now));
    if (silentMs > limits.handoff.silentMsMax) return `no heartbeat for ${silentMs} ms`;
    const name = JSON.parse(worker) as WorkerName;
    return whyDead({ ...name, beat_at: now }, liveness, now);
  }

  /**
   * Heartbeats could not arrive while the store or this process was away: silence counts from when
   * both are back.
   */
  #heardSince(now: number): number {
    return now - this.#seenAt > limits.handoff.beatMs ? now : this.#seenSince;
  }

  /** Writes the request to disk, or leaves that to the next poll: the store may be away. */
  async #tryOpen(waiting: Waiting): Promise<void> {
    try {
      await this.#open(waiting);
      this.#unopened.delete(waiting);
    } catch (error) {
      if (!isRetried(toFailure(error).code) || waiting.context.signal.aborted) throw error;
      if (!this.#unopened.has(waiting)) this.#options.onError('handoff', error);
      this.#unopened.add(waiting);
    }
  }

  async #open(waiting: Waiting): Promise<void> {
    const { world } = this.#options;
    const { request, context } = waiting;
    const { kind } = request;
    const { value, bytes } = await this.#options.payloads.pack({
      value: request.request,
      bytes: request.bytes,
    });
    const state = await this.#opens.add({
      key: world.uuid(),
      itemId: context.item.id,
      jobId: context.item.jobId,
      step: context.step,
      kind,
      stage: requestKinds[kind].stage,
      hash: hashOf(request),
      request: JSON.stringify(value),
      requestBytes: bytes ?? null,
    });
    failpoint(world, 'handoff.after-ask');
    if (this.#waiting.get(waiting.key) === waiting) this.#waiting.delete(waiting.key);
    waiting.key = state.key;
    if (context.signal.aborted) return this.#giveUp(waiting);
    this.#waiting.set(state.key, waiting);
    if (state.answered_at !== null) await this.#fetch(waiting);
    else if (state.worker === null) this.#enqueue(waiting, state.epoch);
  }

  /** Puts the id on its queue. An unavailable queue gets it later. */
  #enqueue(waiting: Waiting, epoch: number): void {
    const { kind } = waiting.request;
    waiting.queuedAt = this.#options.world.now();
    const message = { id: messageId(waiting.key, epoch), kind, jobId: waiting.context.jobKey };
    this.#refill.put(requestKinds[kind].queue, [message]);
  }

  async #look(): Promise<void> {
    const all = [...this.#waiting.values()];
    const states = await listHandoffStates(
      this.#options.database,
      all.map(({ key }) => key),
    );
    if (all.length > 0) this.#seeStore();
    const byKey = new Map(states.map((state) => [state.key, state]));
    for (const waiting of all) {
      if (this.#waiting.get(waiting.key) !== waiting) continue;
      await this.#settle(waiting, byKey.get(waiting.key)).catch((error: unknown) => {
        // A store outage is not a response: the next poll may find one.
        if (isRetried(toFailure(error).code)) this.#options.onError('handoff', error);
        else waiting.reject(error);
      });
    }
    await Promise.all([...this.#unopened].map((one) => this.#tryOpen(one).catch(one.reject)));
  }

  #seeStore(): void {
    const now = this.#options.database.now();
    this.#seenSince = this.#heardSince(now);
    this.#seenAt = now;
  }

  async #settle(waiting: Waiting, state: HandoffState | undefined): Promise<void> {
    const { world } = this.#options;
    // Another process has withdrawn it, or used its response for a lost step: open it again.
    if (!state) return this.#open(waiting);
    if (state.answered_at !== null) return this.#fetch(waiting);
    if (state.worker !== null) {
      // The time without a worker starts when the last worker is gone.
      waiting.askedAt = world.now();
      const reason = this.#whyDead(state);
      if (reason !== undefined) await this.#replace(waiting, state, reason);
      return;
    }
    if (world.now() - waiting.askedAt > limits.handoff.unbegunMsMax) return this.#park(waiting);
    const isOverdue = world.now() - waiting.queuedAt > limits.handoff.requeueMs;
    if (isOverdue) this.#enqueue(waiting, state.epoch);
  }

  /** The worker has died: another one gets the request, unless the request itself kills workers. */
  async #replace(waiting: Waiting, { key, epoch }: HandoffState, reason: string): Promise<void> {
    const released = await this.#options.database.write(async (transaction) => {
      const row = await releaseHandoff(transaction, { key, epoch, hasDied: true });
      const isOver = row !== undefined && isBlamed(row.deaths);
      if (isOver) await removeHandoff(transaction, key);
      return row && { ...row, isOver };
    });
    if (!released) return;
    if (!released.isOver) return this.#enqueue(waiting, released.epoch);
    const { deaths } = released;
    const alone = `${limits.suspect.loneDeathsMax} of them with no other`;
    const message = `${deaths} workers died on this request, ${alone}; the last one: ${reason}`;
    waiting.reject(new Failure('crashed_repeatedly', message));
  }

  /** No worker is running: the slot of the item goes to another item. */
  async #park(waiting: Waiting): Promise<void> {
    const { kind } = waiting.request;
    const withdrawn = await this.#options.database.write((transaction) =>
      withdrawHandoff(transaction, waiting.key),
    );
    if (!withdrawn) return;
    await this.#dequeue(waiting, withdrawn.epoch);
    const { stage } = requestKinds[kind];
    const message = `no worker of the ${stage} stage has begun for a while`;
    const retryAfterMs = limits.handoff.parkedMs;
    waiting.reject(new Failure('service_busy', message, { retryAfterMs }));
  }

  async #dequeue({ key, request: { kind } }: Waiting, epoch: number): Promise<void> {
    const { queues, onError } = this.#options;
    await queues[requestKinds[kind].queue].remove([messageId(key, epoch)]).catch((error) => {
      onError('handoff queue', error);
    });
  }

  /**
   * If the item was taken away because it has ended or waits for a person, the request is removed.
   */
  async #giveUp(waiting: Waiting): Promise<void> {
    const { database, onError } = this.#options;
    if (waiting.context.signal.reason !== ('lost' satisfies AbortReason)) return;
    try {
      const gone = await database.write((transaction) => removeUnwanted(transaction, waiting.key));
      if (gone) await this.#dequeue(waiting, gone.epoch);
    } catch (error) {
      onError('handoff', error);
    }
  }

  async #fetch(waiting: Waiting): Promise<void> {
    const found = await readAnswer(this.#options.database, waiting.key);
    if (!found) return;
    const { value, failure } = JSON.parse(found.answer) as StoredResponse;
    const bytes = found.answer_bytes ?? undefined;
    await this.#deliver(waiting, { value, bytes, failure: failure && verdictOf(failure) });
  }

  /**
   * A successful response is removed in the commit that uses it, a failed one when it is delivered.
   */
  async #deliver(waiting: Waiting, reply: Reply): Promise<void> {
    const whole = await this.#options.payloads.unpack(reply);
    if (reply.failure) {
      await this.#options.database.write((transaction) => removeHandoff(transaction, waiting.key));
    }
    waiting.resolve({ ...whole, failure: reply.failure });
  }

  async #prune(): Promise<void> {
    const { database } = this.#options;
    const before = database.now() - limits.handoff.ageMsMax;
    const limit = limits.loop.pruneBatchMax;
    await database.write((transaction) => pruneHandoffs(transaction, { before, limit }));
  }
}

/** Above the first threshold, a request runs alone (docs/decisions/0064). */
function isBlamed(deaths: number): boolean {
  return deaths >= limits.suspect.crashesMin + limits.suspect.loneDeathsMax;
}

/** Requests that wait for a worker, for a queue that has lost its messages. */
async function openRequests(
  database: Database,
  { queue, from, limit }: Parameters<OpenRequests['list']>[0],
): Promise<OpenPage> {
  const stage = Object.values(requestKinds).find((kind) => kind.queue === queue)?.stage ?? '';
  const rows = await listUnbegun(database, { stage, after: from, limit });
  const messages = rows.map(({ key, epoch, kind, job_key }) => {
    return { id: messageId(key, epoch), kind, jobId: job_key };
  });
  return { messages, next: rows.length < limit ? undefined : rows.at(-1)?.id };
}

/** The epoch distinguishes the message for the next worker from that of a dead one. */
export function messageId(key: string, epoch: number): string {
  return `${key}.${epoch}`;
}

export function keyOfMessage(id: string): string {
  return id.replace(/\.\d+$/, '');
}
