/**
 * Keeps the worker's slots filled: claims as many items as there are free slots, runs each, and
 * looks again when a slot is free, after a commit, and when an item is due. A wake-up may be lost,
 * doubled or late: the poll at the end of every round finds what it missed.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { type StepService, stepServices } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database } from '../../store/driver/database.ts';
import { lookForWork, nextDueAt, type Work, wakeDue } from '../../store/item/claims.ts';
import type { FreeSlots } from '../../store/item/free-slots.ts';
import type { ClaimedRow } from '../../store/item/moves.ts';
import { emptyServiceQueues } from '../../store/item/queues.ts';
import type { AbortReason, Ending, WorkerSlot } from './executor.ts';
import type { Ledger } from './ledger.ts';
import { Solitude } from './suspect-runs.ts';

/**
 * Services whose items come from the common queue. The others get items from the step before,
 * without a claim, unless items wait in their own queue.
 */
const begins: ReadonlySet<StepService> = new Set(['here', 'scraping']);

const noSlots: FreeSlots['free'] = { here: 0, scraping: 0, embedding: 0 };

const claimParts = 2;
/** With a smaller share of free slots than this, another one is likely to be free soon. */
const crowdedShare = 0.25;

export interface DispatcherOptions {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  /** How many items are processed concurrently, for each service. */
  readonly workers: number;
  /** Guesses the service of an item's next steps, if other processes do some of the work. */
  readonly expected?: FreeSlots['expected'] | undefined;
  readonly run: (row: ClaimedRow, signal: AbortSignal, slot: WorkerSlot) => Promise<Ending>;
  /** Another process declared this worker dead: it has to register again. */
  readonly onGivenUp: () => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

interface RunningItem {
  readonly itemId: number;
  readonly jobId: number;
  readonly epoch: number;
  readonly controller: AbortController;
  readonly finished: Promise<void>;
  /** The service whose slot it uses. */
  service: StepService;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  /**
   * Running items, oldest first. An item may be here twice: its lease was revoked and claimed
   * again before the earlier run noticed.
   */
  readonly #held = new Set<RunningItem>();
  /** The last run of each item: any earlier one has been aborted. */
  readonly #lastRuns = new Map<number, RunningItem>();
  /** How many running items use a slot of each service. */
  readonly #used: Record<StepService, number> = { ...noSlots };
  readonly #solitude: Solitude;
  /** Services with a queue of waiting items, which take precedence. */
  #queued: ReadonlySet<StepService> = new Set();
  /** Services whose free slots the current claim may fill. */
  #claimed: ReadonlySet<StepService> = new Set();
  #worker = '';
  #isStopped = true;
  #filling: Promise<void> | undefined;
  #isWanted = false;
  #cancelTimer: (() => void) | undefined;
  #cancelRefill: (() => void) | undefined;
  #pollMs: number = limits.loop.pollMsMin;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#solitude = new Solitude({ world: options.world, wake: () => this.wake() });
  }

  start(worker: string): void {
    this.#worker = worker;
    this.#isStopped = false;
    this.#solitude.start();
    this.wake();
  }

  /** Returns all items to the queue. Steps that do not stop in time are left to the rescuer. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelRefill?.();
    this.#cancelRefill = undefined;
    this.#solitude.stop();
    // Wait for the current claim: its items have to be returned as well.
    await this.#filling;
    this.abort(() => true, 'shutdown');
    await Promise.all([...this.#held].map(({ finished }) => finished));
  }

  /** Aborts items whose lease is lost, or that have to be returned to the queue. */
  abort(which: (itemId: number, held: RunningItem) => boolean, reason: AbortReason): void {
    for (const held of this.#held) {
      if (which(held.itemId, held)) held.controller.abort(reason);
    }
  }

  /** The running items, with the epoch of each lease. */
  heldEpochs(): ReadonlyMap<number, number> {
    return new Map([...this.#held].map(({ itemId, epoch }) => [itemId, epoch]));
  }

  /** The jobs of the running items. */
  heldJobs(): number[] {
    return [...new Set([...this.#held].map(({ jobId }) => jobId))];
  }

  /** Looks for work now, or right after the current look. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#filling ??= this.#fill();
  }

  /** A claim costs a commit: with most slots taken, a free one waits briefly for others. */
  #refill(service: StepService): void {
    if (this.#isStopped) return;
    const { workers, world } = this.#options;
    const isCrowded = workers - this.#free(service) > workers * (1 - crowdedShare);
    if (!isCrowded) {
      this.wake();
      return;
    }
    this.#cancelRefill ??= world.setTimer(() => {
      this.#cancelRefill = undefined;
      this.wake();
    }, limits.loop.refillMs);
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false;
        await this.#claim();
      }
      await this.#sleep();
    } catch (error) {
      this.#options.onError('dispatcher', error);
      this.#wakeIn(limits.loop.pollMsMax);
      if (error instanceof Failure && error.code === 'lease_lost') await this.#registerAgain();
    } finally {
      this.#filling = undefined;
    }
    if (this.#isWanted) this.wake();
  }

  async #claim(): Promise<void> {
    const { expected, database } = this.#options;
    const open = stepServices.filter((service) => this.#free(service) > 0);
    if (open.length === 0 || (!expected && !open.includes('here'))) return;
    const work = await lookForWork(database);
    this.#queued = work.serviceQueues;
    const isQueueOpen = open.some((service) => work.serviceQueues.has(service));
    const hasTurn = work.hasTurn || isQueueOpen;
    const next = this.#solitude.next({ ...work, hasTurn }, this.#held.size);
    if (next === 'nothing') return;
    if (next === 'suspect') return this.#claimSuspect();
    const count = await this.#claimTurns(work);
    if (count > 0) {
      this.#pollMs = limits.loop.pollMsMin;
      this.#isWanted ||= stepServices.some((service) => this.#free(service) > 0);
    } else if (expected && work.hasTurn) {
      // All claimed items may have moved to the queue of a service that has free slots.
      const left = await lookForWork(database);
      const isOpen = open.some((service) => left.serviceQueues.has(service));
      this.#isWanted ||= isOpen && !left.hasTurn;
    }
  }

  async #claimTurns({ serviceQueues }: Work): Promise<number> {
    const { ledger, workers, expected, database } = this.#options;
    // Claim in parts: while one part of the items is claimed, the others report.
    const part = Math.min(Math.ceil(workers / claimParts), limits.lease.claimBatchMax);
    const some = (service: StepService): number => Math.max(Math.min(this.#free(service), part), 0);
    if (!expected) {
      const { claimBatchMax } = limits.lease;
      if (serviceQueues.size > 0) {
        await database.write((transaction) => emptyServiceQueues(transaction, claimBatchMax));
      }
      return this.#holdAll(await ledger.claim(this.#worker, { count: some('here') }));
    }
    const asked = stepServices.filter((name) => serviceQueues.has(name) || begins.has(name));
    const free = Object.fromEntries(asked.map((name) => [name, some(name)]));
    this.#claimed = new Set(asked);
    try {
      const slots = { free: { ...noSlots, ...free }, expected };
      return this.#holdAll(await ledger.claim(this.#worker, { slots }));
    } finally {
      this.#claimed = new Set();
    }
  }

  #holdAll(rows: readonly ClaimedRow[]): number {
    for (const row of rows) this.#hold(row);
    return rows.length;
  }

  /** Free slots of a service; below zero if a suspect uses an extra one. */
  #free(service: StepService): number {
    return this.#options.workers - this.#used[service];
  }

  /** Moves the item to a slot of the service. False: none is free, or others wait for it. */
  #move(held: RunningItem, service: StepService): boolean {
    if (held.service === service) return true;
    const isTaken = this.#queued.has(service) || this.#claimed.has(service);
    if (isTaken || this.#free(service) <= 0) {
      this.#queued = new Set([...this.#queued, service]);
      return false;
    }
    const left = held.service;
    this.#used[left]--;
    held.service = service;
    this.#used[service]++;
    this.#refill(left);
    return true;
  }

  async #claimSuspect(): Promise<void> {
    const { loneDeathsMax: suspectLoneDeathsMax } = this.#solitude;
    const [row] = await this.#options.ledger.claim(this.#worker, { suspectLoneDeathsMax });
    // Undefined: another process was faster.
    if (!row) return;
    this.#pollMs = limits.loop.pollMsMin;
    this.#hold(row, this.#solitude.begin(row.crashes));
  }

  async #registerAgain(): Promise<void> {
    try {
      await this.#options.onGivenUp();
      this.#isWanted = true;
    } catch (error) {
      // The heartbeat retries.
      this.#options.onError('dispatcher', error);
    }
  }

  #hold(row: ClaimedRow, onEnd?: () => void): void {
    // A new lease proves that the old one is gone: an earlier run must stop.
    this.#lastRuns.get(row.id)?.controller.abort('lost' satisfies AbortReason);
    const controller = new AbortController();
    // Aborted before it runs: it goes back to the queue without a step.
    if (this.#isStopped) controller.abort('shutdown' satisfies AbortReason);
    const finished = this.#options
      .run(row, controller.signal, { moveTo: (service) => this.#move(held, service) })
      .then(
        () => undefined,
        // It is unknown whether the last report was stored. The lease is dropped, and the next
        // claim reads the stored progress.
        (error) => this.#options.onError('executor', error),
      )
      .then(() => {
        this.#held.delete(held);
        this.#used[held.service]--;
        if (this.#lastRuns.get(held.itemId) === held) this.#lastRuns.delete(held.itemId);
        onEnd?.();
        this.#refill(held.service);
      });
    const held: RunningItem = {
      itemId: row.id,
      jobId: row.job_id,
      epoch: row.epoch,
      controller,
      finished,
      service: row.service ?? 'here',
    };
    this.#held.add(held);
    this.#used[held.service]++;
    this.#lastRuns.set(held.itemId, held);
  }

  /** Nothing to claim: wakes due items, then sleeps until the next one is due or the poll. */
  async #sleep(): Promise<void> {
    const { database } = this.#options;
    if (this.#isStopped) return;
    const dueAt = await nextDueAt(database);
    if (dueAt !== undefined && dueAt <= database.now()) {
      await this.#wakeDue();
      this.#isWanted = true;
      return;
    }
    const untilDue = dueAt === undefined ? Number.POSITIVE_INFINITY : dueAt - database.now();
    this.#wakeIn(Math.min(untilDue, this.#pollMs));
    this.#pollMs = Math.min(this.#pollMs * 2, limits.loop.pollMsMax);
  }

  #wakeDue(): Promise<number> {
    const { database, lifecycle, world } = this.#options;
    return database.write(async (transaction) => {
      const limit = limits.lease.claimBatchMax;
      const woken = await wakeDue(transaction, { lifecycle, limit, now: database.now() });
      failpoint(world, 'wake.before-commit');
      return woken;
    });
  }

  #wakeIn(delayMs: number): void {
    this.#cancelTimer?.();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.world.setTimer(() => this.wake(), delayMs);
  }
}
