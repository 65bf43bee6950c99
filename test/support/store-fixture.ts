/** A fresh store for one test, and the short helpers that the contract tests use. */
import assert from 'node:assert/strict';
import { Commands } from '../../src/engine/command/commands.ts';
import { leaseOf } from '../../src/engine/item/ledger.ts';
import type { Liveness } from '../../src/engine/item/liveness.ts';
import { rescue } from '../../src/engine/item/rescuer.ts';
import { item as itemLifecycle } from '../../src/kernel/lifecycle/item.ts';
import type { Event } from '../../src/observe/event.ts';
import { listEvents } from '../../src/store/delivery/events.ts';
import type { Database } from '../../src/store/driver/database.ts';
import type { Parameters, sql } from '../../src/store/driver/statement.ts';
import { claimItems, wakeDue } from '../../src/store/item/claims.ts';
import { countWithoutCause, type ItemRow } from '../../src/store/item/items.ts';
import type { Claim, ClaimedRow } from '../../src/store/item/moves.ts';
import {
  applyReports,
  type Move,
  type Report,
  type Verdict,
} from '../../src/store/item/reports.ts';
import { registerWorker } from '../../src/store/item/workers.ts';
import { getJob, type JobRow } from '../../src/store/job/jobs.ts';
import type { NewSource } from '../../src/store/job/submit.ts';
import type { Cleanup } from './temporary.ts';
import { TestWorld } from './test-world.ts';

export type OpenStore = (t: Cleanup) => Promise<StoreFixture>;
export type StoreTest = readonly [title: string, run: (store: StoreFixture) => Promise<void>];

export interface Opened {
  readonly database: Database;
  /** Another session on the same store; undefined if a store has only one session. */
  readonly openAnother?: (() => Promise<Database>) | undefined;
  /** Cleanup after every session has ended. */
  readonly remove?: (() => void | Promise<void>) | undefined;
}

export interface SubmitOptions {
  readonly caller?: string;
  readonly corpus?: string;
  readonly items?: number;
  readonly gate?: string;
  readonly priority?: number;
  readonly force?: boolean;
  readonly maxWallSeconds?: number;
  readonly sources?: readonly NewSource[];
}

export interface Submitted {
  readonly key: string;
  readonly ids: readonly number[];
  readonly caller: string;
}

export class StoreFixture {
  readonly world = new TestWorld();
  readonly lifecycle = itemLifecycle;
  readonly database: Database;
  readonly commands: Commands;
  readonly livingPids = new Set<number>();
  readonly openAnother: (() => Promise<Database>) | undefined;
  readonly #releases: (() => Promise<void>)[] = [];
  #sources = 0;

  constructor(t: Cleanup, { database, openAnother, remove }: Opened) {
    this.database = this.world.watch(database);
    this.commands = new Commands({
      database: this.database,
      lifecycle: this.lifecycle,
      world: this.world,
      ring: () => undefined,
      revoke: () => undefined,
      revokeJob: () => undefined,
    });
    this.openAnother =
      openAnother &&
      (async () => {
        const another = await openAnother();
        this.onRelease(() => another.close());
        return this.world.watch(another);
      });
    this.onRelease(async () => remove?.());
    this.onRelease(() => database.close());
    t.after(() => this.#release());
  }

  /** Releases in reverse order. */
  onRelease(release: () => Promise<void>): void {
    this.#releases.push(release);
  }

  async submit(options: SubmitOptions = {}): Promise<Submitted> {
    const { caller = 'ann', corpus = 'notes', items = 1, gate, sources, ...rest } = options;
    const made = Array.from({ length: items }, (): NewSource => {
      this.#sources++;
      return { kind: 'inline', source: `note-${this.#sources}`, gate };
    });
    const input = { caller, corpus, sources: sources ?? made, ...rest };
    const { jobKey, itemIds } = await this.commands.submit(input);
    return { key: jobKey, ids: itemIds, caller };
  }

  async register(worker: string, pid = 1, host = 'machine'): Promise<void> {
    this.livingPids.add(pid);
    const row = { id: worker, host, pid, process_started: '7', beat_at: this.world.now() };
    await this.database.write((transaction) => registerWorker(transaction, row));
  }

  claim(count = 1, worker = 'worker', database = this.database): Promise<ClaimedRow[]> {
    return this.#take(worker, { count }, database);
  }

  /** Claims an item that must run alone, if it was alone at no more than this many deaths. */
  claimSuspect(worker = 'worker', suspectLoneDeathsMax = 0): Promise<ClaimedRow[]> {
    return this.#take(worker, { suspectLoneDeathsMax });
  }

  #take(worker: string, take: Claim['take'], database = this.database): Promise<ClaimedRow[]> {
    const { lifecycle, world } = this;
    return database.write((transaction) =>
      claimItems(transaction, { worker, take, lifecycle, now: world.now() }),
    );
  }

  async claimOne(worker = 'worker'): Promise<ClaimedRow> {
    const [row] = await this.claim(1, worker);
    assert.ok(row, 'there was an item to claim');
    return row;
  }

  apply(reports: readonly Report[]): Promise<Verdict[]> {
    const { lifecycle, world, database } = this;
    return database.write((transaction) =>
      applyReports(transaction, { reports, lifecycle, now: world.now() }),
    );
  }

  /** A report by the worker that claimed the row, with the row's progress. */
  async report(row: ClaimedRow, move: Move, more: Partial<Report> = {}): Promise<Verdict> {
    const lease = leaseOf(row, 'worker');
    const report = { lease, expect: row.progress, move, events: [], ...more };
    const [verdict] = await this.apply([report]);
    return verdict as Verdict;
  }

  /** Commits these steps, and returns the row with its new progress. */
  async commit(row: ClaimedRow, ...steps: readonly string[]): Promise<ClaimedRow> {
    let { progress } = row;
    for (const step of steps) {
      const next = this.lifecycle.reach(progress, step);
      const move: Move = { to: 'advance', progress: next };
      assert.equal(await this.report({ ...row, progress }, move), 'applied', step);
      progress = next;
    }
    return { ...row, progress };
  }

  async finish(row: ClaimedRow): Promise<void> {
    const steps = this.lifecycle.steps.map(({ step }) => step);
    await this.commit(
      row,
      ...steps.filter((step) => !this.lifecycle.isReached(row.progress, step)),
    );
  }

  fail(row: ClaimedRow, code = 'http_404', stage = 'scraping'): Promise<Verdict> {
    const attempt = row.attempt + 1;
    const error = { stage, code, message: code };
    return this.report(row, { to: 'failed', attempt, error });
  }

  wait(row: ClaimedRow, delayMs: number, attempt = 1): Promise<Verdict> {
    return this.report(row, { to: 'time', dueAt: this.world.now() + delayMs, attempt });
  }

  wake(limit = 100): Promise<number> {
    const { lifecycle, world, database } = this;
    return database.write((transaction) =>
      wakeDue(transaction, { lifecycle, limit, now: world.now() }),
    );
  }

  get liveness(): Liveness {
    const isAlive = (pid: number): boolean => this.livingPids.has(pid);
    return { host: 'machine', pid: 1, processStarted: '7', isAlive };
  }

  rescue(self?: string): Promise<number> {
    const { database, lifecycle, world, liveness } = this;
    return rescue({ database, lifecycle, world, liveness, ring: () => undefined }, self);
  }

  rows<Row>(text: string, parameters?: Parameters): Promise<Row[]> {
    return this.database.run({ text } as ReturnType<typeof sql<Row>>, parameters);
  }

  async item(id: number | undefined): Promise<ItemRow> {
    const [row] = await this.rows<ItemRow>(`SELECT * FROM items WHERE id = ${Number(id)}`);
    assert.ok(row, `item ${id} is stored`);
    return row;
  }

  async job(key: string): Promise<JobRow> {
    const row = await getJob(this.database, key);
    assert.ok(row, `job ${key} is stored`);
    return row;
  }

  events(after = 0): Promise<Event[]> {
    return listEvents(this.database, { after, limit: 100_000 });
  }

  /** The history as words: `step_started fetched`. */
  async story(after = 0): Promise<string[]> {
    return (await this.events(after)).map(({ kind, step }) => (step ? `${kind} ${step}` : kind));
  }

  /** All rows that define the state of items and jobs. */
  async state(): Promise<Record<string, unknown[]>> {
    const [items, jobs, turns, suspects, service_queue, timers, lines, claims] = await Promise.all([
      this.rows('SELECT * FROM items ORDER BY id'),
      this.rows('SELECT * FROM jobs ORDER BY id'),
      this.rows('SELECT * FROM turns ORDER BY rank, item_id'),
      this.rows('SELECT * FROM suspects ORDER BY rank, item_id'),
      this.rows('SELECT * FROM service_queue ORDER BY service, rank, item_id'),
      this.rows('SELECT * FROM timers ORDER BY due_at, item_id'),
      this.rows('SELECT * FROM lines ORDER BY gate, rank, item_id'),
      this.rows('SELECT * FROM claims ORDER BY id'),
    ]);
    const waiting = { turns, suspects, service_queue, timers, lines };
    return { items, jobs, ...waiting, claims } as Record<string, unknown[]>;
  }

  /** How many rows each queue holds. */
  async queues(): Promise<Record<string, number>> {
    const { turns, timers, lines, claims } = await this.state();
    const all = { turns, timers, lines, claims };
    return Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows?.length ?? 0]));
  }

  withoutCause(): Promise<number> {
    return countWithoutCause(this.database);
  }

  async #release(): Promise<void> {
    for (const release of this.#releases.reverse()) await release();
  }
}
