/** The engine of one process: commands in, items forward, events out. */
import type { BlobStore, SweptBlobs } from '../blob/blob.ts';
import type { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { WordReindex } from '../pipeline/word/reindex.ts';
import type { Sink } from '../sink/sink.ts';
import type { Database } from '../store/driver/database.ts';
import { sweepAlone } from '../store/driver/sweep-lock.ts';
import type { NewSource } from '../store/job/submit.ts';
import { pauseForMoney } from './command/budget.ts';
import { CallerCommands } from './command/caller-commands.ts';
import { Commands } from './command/commands.ts';
import { CommitSignal, type Ring } from './commit-signal.ts';
import { endOverdue } from './item/deadline.ts';
import { Dispatcher } from './item/dispatcher.ts';
import { runItem } from './item/executor.ts';
import { LeaseHeartbeat } from './item/lease-heartbeat.ts';
import type { Ledger } from './item/ledger.ts';
import type { Liveness } from './item/liveness.ts';
import { rescue } from './item/rescuer.ts';
import { StoreLedger } from './item/store-ledger.ts';
import { packOld, pruneHistory, pruneMoney, requeueStuck, sweepFetched } from './item/sweeper.ts';
import { Loop } from './loop.ts';
import { PgvectorMaintenance } from './pgvector-maintenance.ts';
import { Relay } from './relay.ts';
import { SinkSync } from './sink-sync.ts';
import { SyncCommands } from './sync/commands.ts';
import { type SourceKinds, SyncRunner } from './sync/runner.ts';

export interface EngineOptions {
  readonly database: Database;
  readonly pipeline: Pipeline;
  readonly world: World;
  readonly liveness: Liveness;
  /** Fetched bytes; unused ones are swept. */
  readonly blobs?: SweptBlobs | undefined;
  /** Files beside the store that must not outlast what they were made of. */
  readonly indexes?: { sweep(): Promise<void> } | undefined;
  /** Where sources store content that they read themselves. */
  readonly contents?: BlobStore | undefined;
  /** Copies of the store: deletions are delivered to them, and new ones are filled. */
  readonly sinks?: readonly Sink[] | undefined;
  /** The store has pgvector, and its vectors are maintained. */
  readonly hasPoints?: boolean | undefined;
  /** Throws for a source that can never be read, before a job is created. */
  readonly checkSource?: ((source: NewSource) => void) | undefined;
  /** How many items are processed concurrently, for each service. */
  readonly workers?: number | undefined;
  /** How many items one transaction moves after a command on their job. */
  readonly sweepItemsMax?: number | undefined;
  /** Wraps the ledger, in tests. */
  readonly ledger?: ((own: Ledger) => Ledger) | undefined;
  /** The kinds of sources that this process can follow. */
  readonly kinds?: SourceKinds | undefined;
  readonly onProgress?: ((event: NewEvent) => void) | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

export class Engine {
  readonly commands: Commands;
  readonly callers: CallerCommands;
  readonly sources: SyncCommands;
  readonly relay: Relay;
  readonly worker: string;
  readonly #options: EngineOptions;
  readonly #dispatcher: Dispatcher;
  readonly #leaseHeartbeat: LeaseHeartbeat;
  readonly #loops: readonly Loop[];
  readonly #commitSignal: CommitSignal;
  readonly #sinkSyncs: readonly SinkSync[];
  readonly #points: PgvectorMaintenance | undefined;
  readonly #reindex: WordReindex;
  readonly #reindexLoop: Loop;
  readonly #deliveries: readonly Loop[];
  readonly #sync: SyncRunner;
  readonly #syncLoop: Loop;
  #isStarted = false;
  #unlisten: (() => void) | undefined;

  constructor(options: EngineOptions) {
    const { database, pipeline, world } = options;
    const { lifecycle, expected } = pipeline;
    this.#options = options;
    this.worker = world.uuid().slice(-12);
    this.#commitSignal = new CommitSignal();
    const ring = (kind: Ring): void => this.#commitSignal.ring(kind);
    const own = new StoreLedger({ database, lifecycle, world, ring });
    const ledger = options.ledger?.(own) ?? own;
    this.#dispatcher = new Dispatcher({
      database,
      ledger,
      lifecycle,
      world,
      workers: options.workers ?? limits.lease.itemsInFlightMax,
      onError: options.onError,
      onGivenUp: () => this.#leaseHeartbeat.beat(),
      expected: expected && ((row) => expected(lifecycle.ready(row.progress), row.sourceKind)),
      run: (row, signal, slot) =>
        runItem(row, this.worker, signal, {
          slot,
          ledger,
          pipeline,
          world,
          now: () => database.now(),
          reader: database,
          pauseJob: (jobId, failure) => this.#pauseForMoney(jobId, failure),
          ...(options.onProgress && { onProgress: options.onProgress }),
        }),
    });
    this.#leaseHeartbeat = new LeaseHeartbeat({
      ...options,
      worker: this.worker,
      ledger,
      dispatcher: this.#dispatcher,
    });
    const { onError } = options;
    this.relay = new Relay({ database, world, commitSignal: this.#commitSignal, onError });
    this.commands = new Commands({
      database,
      lifecycle,
      world,
      ring,
      checkSource: options.checkSource,
      sweepItemsMax: options.sweepItemsMax,
      revoke: (itemIds) => this.#revoke(itemIds),
      revokeJob: (jobId) => this.#revokeJob(jobId),
      onError,
    });
    this.callers = new CallerCommands({ database, ring });
    this.#sinkSyncs = (options.sinks ?? []).map((sink) => new SinkSync(database, sink));
    this.#points = options.hasPoints ? new PgvectorMaintenance(database) : undefined;
    this.#reindex = new WordReindex(database);
    this.#reindexLoop = this.#loop('words', limits.loop.sweepIntervalMs, () => this.#reindex.run());
    this.#deliveries = this.#deliveryLoops();
    this.#sync = this.#openSync(() => ring('work'));
    this.#syncLoop = this.#loop('sync', limits.sync.pollMs, () => this.#sync.turn());
    this.sources = this.#syncCommands();
    this.#loops = [...this.#makeLoops(ring), ...this.#deliveries, this.#syncLoop];
  }

  #syncCommands(): SyncCommands {
    const { database, kinds = new Map() } = this.#options;
    return new SyncCommands({ database, kinds, wake: () => this.#wakeSync() });
  }

  /** Registers the worker, takes over the items of dead workers, and starts to work. */
  async start(): Promise<void> {
    await this.#leaseHeartbeat.register();
    await this.#rescue(() => undefined);
    for (const loop of this.#loops) loop.start();
    // The process may be short-lived: sinks are synchronized immediately, beside the work.
    for (const loop of [...this.#deliveries, this.#reindexLoop]) void loop.runNow();
    this.#unlisten = this.#commitSignal.listen('work', () => this.#dispatcher.wake());
    this.#dispatcher.start(this.worker);
    this.#isStarted = true;
    this.#wakeSync();
  }

  /** Returns unfinished items to the queue, so that the next process need not wait for them. */
  async stop(): Promise<void> {
    this.#unlisten?.();
    for (const sinkSync of this.#sinkSyncs) sinkSync.stop();
    this.#points?.stop();
    this.#reindex.stop();
    this.#isStarted = false;
    // All at once: what waits for another one to end must not begin a step meanwhile.
    const parts = [this.#dispatcher, this.#sync, this.commands.sweeps, ...this.#loops];
    await Promise.all(parts.map((part) => part.stop()));
    try {
      await this.#leaseHeartbeat.unregister();
    } catch (error) {
      // The store is unreachable. Rescuers find the leases that are left.
      this.#options.onError('leaving', error);
    }
    await this.relay.close();
  }

  #openSync(ring: () => void): SyncRunner {
    const { database, world, onError, contents: blobs, kinds = new Map() } = this.#options;
    const revoke = (itemIds: readonly number[]): void => this.#revoke(itemIds);
    return new SyncRunner({ database, world, kinds, blobs, revoke, onError, ring }, this.worker);
  }

  /** A process that does not work leaves the runs to those that do. */
  #wakeSync(): void {
    if (this.#isStarted) void this.#syncLoop.runNow();
  }

  #loop(name: string, intervalMs: number, run: () => Promise<unknown>): Loop {
    const { world, onError } = this.#options;
    return new Loop({ name, intervalMs, world, onError, runOnce: async () => void (await run()) });
  }

  #deliveryLoops(): Loop[] {
    const points = this.#points;
    const sinkSyncs = this.#sinkSyncs.map((sinkSync) =>
      this.#loop(sinkSync.name, limits.sink.pollMs, () => sinkSync.run()),
    );
    if (!points) return sinkSyncs;
    return [...sinkSyncs, this.#loop('points', limits.points.pollMs, () => points.run())];
  }

  #makeLoops(ring: (kind: Ring) => void): Loop[] {
    const { database, pipeline, blobs, indexes } = this.#options;
    const loop = this.#loop.bind(this);
    // One orchestrator at a time: concurrent sweeps would contend for the same rows.
    const sweep = (name: string, runOnce: () => Promise<unknown>): Loop =>
      loop(name, limits.loop.sweepIntervalMs, () => sweepAlone(database, name, runOnce));
    return [
      loop('heartbeat', limits.lease.heartbeatMs, () => this.#leaseHeartbeat.beat()),
      loop('leases', limits.loop.rescueIntervalMs, () => this.#leaseHeartbeat.compare()),
      loop('rescuer', limits.loop.rescueIntervalMs, () => this.#rescue(ring)),
      loop('deadlines', limits.loop.rescueIntervalMs, () => this.#endOverdue()),
      loop('moves', limits.caller.moveIntervalMs, () => this.callers.carryOut()),
      loop('sweeps', limits.loop.rescueIntervalMs, () => this.commands.sweeps.runAll()),
      sweep('stuck', () => requeueStuck(database, pipeline.lifecycle)),
      sweep('retention', () => pruneHistory(database)),
      sweep('fetched', () => sweepFetched(database, blobs)),
      sweep('results', () => pruneMoney(database)),
      sweep('packing', () => packOld(database)),
      ...(indexes ? [sweep('indexes', () => indexes.sweep())] : []),
      this.#reindexLoop,
    ];
  }

  #revoke(itemIds: readonly number[]): void {
    const revoked = new Set(itemIds);
    this.#dispatcher.abort((itemId) => revoked.has(itemId), 'lost');
  }

  #revokeJob(jobId: number): void {
    this.#dispatcher.abort((_, held) => held.jobId === jobId, 'lost');
  }

  #endOverdue(): Promise<number> {
    const { database, pipeline } = this.#options;
    const revoke = (itemIds: readonly number[]): void => this.#revoke(itemIds);
    return endOverdue({ database, lifecycle: pipeline.lifecycle, revoke });
  }

  /** False: the budget was raised meanwhile, and the item returns to the queue. */
  async #pauseForMoney(jobId: number, failure: Failure): Promise<boolean> {
    const { database, onError } = this.#options;
    const isPaused = await pauseForMoney(database, jobId, failure);
    if (isPaused) {
      this.#revokeJob(jobId);
      await this.commands.sweeps.run(jobId).catch((error) => onError('sweep', error));
    }
    this.#commitSignal.ring('work');
    return isPaused;
  }

  #rescue(ring: (kind: Ring) => void): Promise<number> {
    const { database, pipeline, world, liveness } = this.#options;
    return rescue({ database, lifecycle: pipeline.lifecycle, world, liveness, ring }, this.worker);
  }
}
