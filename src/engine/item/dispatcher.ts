/**
 * Keeps the worker's places filled: claims as many items as there are free places, runs each, and
 * looks again when a place is free, when something was committed, or when an item's time has come.
 * A wake-up may be lost, doubled or late: the poll at the end of every round finds what it missed.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { type StepService, stepServices } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database } from '../../store/driver/database.ts';
import { lookForWork, nextDueAt, type Work, wakeDue } from '../../store/item/claims.ts';
import type { ClaimedRow } from '../../store/item/moves.ts';
import { emptyServiceQueues } from '../../store/item/queues.ts';
import type { Seats } from '../../store/item/seating.ts';
import type { AbortReason, Ending, WorkerSlot } from './executor.ts';
import type { Ledger } from './ledger.ts';
import { Solitude } from './suspect-runs.ts';

/**
 * Services whose items come from the common queue. The others get items from the step before,
 * without a claim, unless items wait in their own queue.
 */
const begins: ReadonlySet<StepService> = new Set(['here', 'scraping']);

const noPlaces: Seats['free'] = { here: 0, scraping: 0, embedding: 0 };

const claimParts = 2;
/** With fewer free places than this share of all, another may soon be free. */
const crowdedShare = 0.25;

export interface DispatcherOptions {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  /** How many items are processed concurrently, for each service. */
  readonly workers: number;
  /** Where items go on, if not all is done by this process. */
  readonly expected?: Seats['expected'] | undefined;
  readonly run: (row: ClaimedRow, signal: AbortSignal, seat: WorkerSlot) => Promise<Ending>;
  /** This worker has been given up by others, and must introduce itself again. */
  readonly onGivenUp: () => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

interface Held {
  readonly itemId: number;
  readonly jobId: number;
  readonly epoch: number;
  readonly controller: AbortController;
  readonly finished: Promise<void>;
  /** Where it has its place. */
  workplace: StepService;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  /**
   * Attempts under way, oldest first. An item may be here twice: its lease was taken away and
   * claimed again before the earlier attempt noticed.
   */
  readonly #held = new Set<Held>();
  readonly #solitude: Solitude;
  /** Where items wait for a place: nobody goes there before them. */
  #benches: ReadonlySet<StepService> = new Set();
  /** Where a claim that is under way may fill the free places. */
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

  /** Hands everything back to the queue. Steps that do not stop in time are left to the rescuer. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelRefill?.();
    this.#cancelRefill = undefined;
    this.#solitude.stop();
    // A claim that is under way brings its items first.
    await this.#filling;
    this.abort(() => true, 'shutdown');
    await Promise.all([...this.#held].map(({ finished }) => finished));
  }

  /** Stops working on items that are no longer this worker's, or that must be handed back. */
  abort(which: (itemId: number, held: Held) => boolean, reason: AbortReason): void {
    for (const held of this.#held) {
      if (which(held.itemId, held)) held.controller.abort(reason);
    }
  }

  /** The items being worked on, with the epoch of each lease. */
  heldEpochs(): ReadonlyMap<number, number> {
    return new Map([...this.#held].map(({ itemId, epoch }) => [itemId, epoch]));
  }

  /** The jobs of these items: no more than there are places. */
  heldJobs(): number[] {
    return [...new Set([...this.#held].map(({ jobId }) => jobId))];
  }

  /** Looks for work, now or as soon as the look under way is over. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#filling ??= this.#fill();
  }

  /** A claim costs a commit: where most places are taken, a free one waits a little for others. */
  #refill(workplace: StepService): void {
    if (this.#isStopped) return;
    const { workers, world } = this.#options;
    const isCrowded = workers - this.#free(workplace) > workers * (1 - crowdedShare);
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
      if (error instanceof Failure && error.code === 'lease_lost') await this.#introduce();
    } finally {
      this.#filling = undefined;
    }
    if (this.#isWanted) this.wake();
  }

  async #claim(): Promise<void> {
    const { expected, database } = this.#options;
    const open = stepServices.filter((workplace) => this.#free(workplace) > 0);
    if (open.length === 0 || (!expected && !open.includes('here'))) return;
    const work = await lookForWork(database);
    this.#benches = work.benches;
    const isBenchOpen = open.some((workplace) => work.benches.has(workplace));
    const hasTurn = work.hasTurn || isBenchOpen;
    const next = this.#solitude.next({ ...work, hasTurn }, this.#held.size);
    if (next === 'nothing') return;
    if (next === 'suspect') return this.#claimSuspect();
    const count = await this.#claimTurns(work);
    if (count > 0) {
      this.#pollMs = limits.loop.pollMsMin;
      this.#isWanted ||= stepServices.some((workplace) => this.#free(workplace) > 0);
    } else if (expected && work.hasTurn) {
      // All that was there may have gone to a bench that has free places.
      const left = await lookForWork(database);
      const isOpen = open.some((workplace) => left.benches.has(workplace));
      this.#isWanted ||= isOpen && !left.hasTurn;
    }
  }

  async #claimTurns({ benches }: Work): Promise<number> {
    const { ledger, workers, expected, database } = this.#options;
    // Not all places at once: while one part of the items is being claimed, others are reporting.
    const part = Math.min(Math.ceil(workers / claimParts), limits.lease.claimBatchMax);
    const some = (workplace: StepService): number =>
      Math.max(Math.min(this.#free(workplace), part), 0);
    if (!expected) {
      const { claimBatchMax } = limits.lease;
      if (benches.size > 0) {
        await database.write((transaction) => emptyServiceQueues(transaction, claimBatchMax));
      }
      return this.#holdAll(await ledger.claim(this.#worker, some('here')));
    }
    const asked = stepServices.filter((name) => benches.has(name) || begins.has(name));
    const free = Object.fromEntries(asked.map((name) => [name, some(name)]));
    this.#claimed = new Set(asked);
    try {
      const seats = { free: { ...noPlaces, ...free }, expected };
      return this.#holdAll(await ledger.claimSeated(this.#worker, seats));
    } finally {
      this.#claimed = new Set();
    }
  }

  #holdAll(rows: readonly ClaimedRow[]): number {
    for (const row of rows) this.#hold(row);
    return rows.length;
  }

  /** Free places at a workplace; fewer than none, where one was given to a suspect as well. */
  #free(workplace: StepService): number {
    let free = this.#options.workers;
    for (const held of this.#held) if (held.workplace === workplace) free--;
    return free;
  }

  /** Whether the item now has a place there: those that wait on the bench come first. */
  #move(held: Held, workplace: StepService): boolean {
    if (held.workplace === workplace) return true;
    const isTaken = this.#benches.has(workplace) || this.#claimed.has(workplace);
    if (isTaken || this.#free(workplace) <= 0) {
      this.#benches = new Set([...this.#benches, workplace]);
      return false;
    }
    const left = held.workplace;
    held.workplace = workplace;
    this.#refill(left);
    return true;
  }

  async #claimSuspect(): Promise<void> {
    const { loneDeathsMax } = this.#solitude;
    const [row] = await this.#options.ledger.claimSuspect(this.#worker, loneDeathsMax);
    // None: another process was quicker.
    if (!row) return;
    this.#pollMs = limits.loop.pollMsMin;
    this.#hold(row, this.#solitude.begin(row.crashes));
  }

  async #introduce(): Promise<void> {
    try {
      await this.#options.onGivenUp();
      this.#isWanted = true;
    } catch (error) {
      // The heartbeat will try again.
      this.#options.onError('dispatcher', error);
    }
  }

  #hold(row: ClaimedRow, onEnd?: () => void): void {
    // A new lease proves that the old one is gone: an earlier attempt must run nothing more.
    this.abort((itemId) => itemId === row.id, 'lost');
    const controller = new AbortController();
    const finished = this.#options
      .run(row, controller.signal, { moveTo: (workplace) => this.#move(held, workplace) })
      .then(
        () => undefined,
        // The outcome could not be reported, and may or may not be stored: the lease is given up
        // without knowing, and whoever claims the item next reads where it stands.
        (error) => this.#options.onError('executor', error),
      )
      .then(() => {
        this.#held.delete(held);
        onEnd?.();
        this.#refill(held.workplace);
      });
    const ids = { itemId: row.id, jobId: row.job_id };
    const workplace = row.workplace ?? 'here';
    const held: Held = { ...ids, epoch: row.epoch, controller, finished, workplace };
    this.#held.add(held);
    if (this.#isStopped) controller.abort('shutdown' satisfies AbortReason);
  }

  /**
   * Nothing to claim: wakes the items whose time has come, then sleeps until the next, or the poll.
   */
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
