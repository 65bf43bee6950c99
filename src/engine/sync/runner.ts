/** Starts the runs that are due, works on open ones, and purges what can no longer be restored. */
import type { BlobStore } from '../../blob/blob.ts';
import { type Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { purgeRemoved } from '../../store/document/removed.ts';
import type { Database } from '../../store/driver/database.ts';
import { purgeRuns, type SyncRunRow, takeRuns } from '../../store/sync/runs.ts';
import { purgeSignals } from '../../store/sync/signals.ts';
import { getSyncSourceById, listDue, purgeSources } from '../../store/sync/sources.ts';
import { failRun } from './end.ts';
import { Fenced, SourceRun } from './run.ts';
import type { SourceKind } from './source-kind.ts';
import { startRun } from './start.ts';

export type SourceKinds = ReadonlyMap<string, SourceKind>;

export interface SyncRunnerOptions {
  readonly database: Database;
  readonly world: World;
  readonly kinds: SourceKinds;
  readonly blobs?: BlobStore | undefined;
  readonly ring: () => void;
  readonly revoke: (itemIds: readonly number[]) => void;
  readonly onError: (what: string, error: unknown) => void;
}

export class SyncRunner {
  readonly #options: SyncRunnerOptions;
  readonly #worker: string;
  readonly #stopping = new AbortController();
  readonly #running = new Map<number, Promise<void>>();
  #purgedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SyncRunnerOptions, worker: string) {
    this.#options = options;
    this.#worker = worker;
  }

  /** One turn of the loop: it does not wait for the runs that it begins. */
  async turn(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    await this.#startDue();
    await this.#takeOpen();
    await this.#purge();
  }

  /** Aborts the runs of this process. The next process continues them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #startDue(): Promise<void> {
    const { database } = this.#options;
    const limit = limits.sync.runsAtOnce * 8;
    const due = { now: database.now(), retry_ms: limits.sync.retryMsMax, limit };
    for (const { id } of await listDue(database, due)) {
      await database.write((transaction) =>
        startRun(transaction, { sourceId: id, cause: 'schedule', isPlan: false }, database.now()),
      );
    }
  }

  async #takeOpen(): Promise<void> {
    const { database } = this.#options;
    const room = limits.sync.runsAtOnce - this.#running.size;
    if (room <= 0) return;
    const now = database.now();
    const heldUntil = now + limits.sync.holdMs;
    const taken = { worker: this.#worker, now, heldUntil, limit: room };
    const rows = await database.write((transaction) => takeRuns(transaction, taken));
    for (const row of rows) {
      const running = this.#work(row)
        .catch((error) => this.#options.onError('sync', error))
        .finally(() => {
          this.#running.delete(row.id);
          if (!this.#stopping.signal.aborted) this.#again();
        });
      this.#running.set(row.id, running);
    }
  }

  /** A run has ended: the next one need not wait for the loop. */
  #again(): void {
    void this.turn().catch((error) => this.#options.onError('sync', error));
  }

  async #work(row: SyncRunRow): Promise<void> {
    const { database, kinds } = this.#options;
    const source = await getSyncSourceById(database, row.source_id);
    const kind = source && kinds.get(source.kind);
    // Another process may know the kind; this one holds the run for a while and leaves it.
    if (!source || !kind) return;
    const { signal } = this.#stopping;
    const run = new SourceRun({ ...this.#options, kind, source, signal }, row);
    try {
      await run.toEnd();
    } catch (error) {
      if (error instanceof Fenced || signal.aborted) return;
      await this.#fail(run, toFailure(error));
    }
  }

  /** If the store is what fails, the run stays open, and is taken again. */
  async #fail(run: SourceRun, failure: Failure): Promise<void> {
    if (failure.code.startsWith('store_')) throw failure;
    try {
      await failRun(run, failure);
    } catch (error) {
      if (!(error instanceof Fenced)) throw error;
    }
  }

  async #purge(): Promise<void> {
    const { database } = this.#options;
    const now = database.now();
    if (Math.abs(now - this.#purgedAt) < limits.sync.purgeMs) return;
    const { purgeMax: limit, restoreMs, runsKept: kept } = limits.sync;
    const batch = limits.loop.pruneBatchMax;
    const purged = await database.write(async (transaction) => {
      const removed = await purgeRemoved(transaction, { before: now - restoreMs, limit });
      const runs = await purgeRuns(transaction, { kept, limit: batch });
      const signals = { before: now - limits.sync.signalsKeptMs, limit: batch };
      const others = await purgeSignals(transaction, signals);
      return removed + runs + others + (await purgeSources(transaction, batch));
    });
    if (purged === 0) this.#purgedAt = now;
  }
}
