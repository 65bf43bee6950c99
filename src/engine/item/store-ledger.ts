/**
 * The ledger over the store, with group commit and without a timer. If no commit is running, a
 * report is committed immediately; reports that arrive during a commit share the next one. A
 * database that takes several commits concurrently gets several, but reports of one lease never
 * overtake each other.
 */

import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database, Reader } from '../../store/driver/database.ts';
import { claimItems } from '../../store/item/claims.ts';
import { listLeases } from '../../store/item/items.ts';
import { handBack } from '../../store/item/lost-leases.ts';
import type { Claim, ClaimedRow } from '../../store/item/moves.ts';
import { forgetClaims, listClaims } from '../../store/item/queues.ts';
import { applyReports, type Lease, type Report, type Verdict } from '../../store/item/reports.ts';
import { beat } from '../../store/item/workers.ts';
import { beatJobs } from '../../store/job/moves.ts';
import type { Ring } from '../commit-signal.ts';
import type { Ledger } from './ledger.ts';

interface Pending {
  readonly report: Report;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

export interface StoreLedgerOptions {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  /** Called after every commit: there may be events to publish or items to claim. */
  readonly ring: (ring: Ring) => void;
}

export class StoreLedger implements Ledger {
  readonly #options: StoreLedgerOptions;
  readonly #committing = new Set<Lease>();
  #pending: Pending[] = [];
  #commits = 0;

  constructor(options: StoreLedgerOptions) {
    this.#options = options;
  }

  async claim(worker: string, take: Claim['take']): Promise<ClaimedRow[]> {
    const { database, lifecycle, world, ring } = this.#options;
    const rows = await database.write(async (transaction) => {
      const now = database.now();
      const claimed = await claimItems(transaction, { worker, take, lifecycle, now });
      failpoint(world, 'claim.before-commit');
      return claimed;
    });
    failpoint(world, 'claim.after-commit');
    if (rows.length > 0) ring('news');
    return rows;
  }

  report(report: Report): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ report, resolve, reject });
      this.#schedule();
    });
  }

  beat(worker: string, jobIds: readonly number[] = []): Promise<boolean> {
    const { database } = this.#options;
    return database.write(async (transaction) => {
      const now = database.now();
      const isKnown = await beat(transaction, worker, now);
      if (isKnown && jobIds.length > 0) await beatJobs(transaction, jobIds, now);
      return isKnown;
    });
  }

  async leases(worker: string): Promise<ReadonlyMap<number, number>> {
    const { database } = this.#options;
    const { held, ended } = await this.#readLeases(database, worker);
    // Read again in the transaction: meanwhile the id may belong to a new claim.
    if (ended.length > 0) {
      await database.write(async (transaction) => {
        await forgetClaims(transaction, (await this.#readLeases(transaction, worker)).ended);
      });
    }
    return held;
  }

  async #readLeases(reader: Reader, worker: string) {
    const claims = await listClaims(reader, worker);
    const itemIds = claims.flatMap((claim) => claim.itemIds);
    const rows = await listLeases(reader, worker, itemIds);
    const held = new Map(rows.map(({ id, epoch }) => [id, epoch]));
    const ended = claims.filter((claim) => !claim.itemIds.some((id) => held.has(id)));
    return { held, ended: ended.map(({ id }) => id) };
  }

  async handBack(leases: readonly { id: number; epoch: number }[]): Promise<void> {
    await this.#options.database.write((transaction) => handBack(transaction, leases));
    this.#options.ring('work');
  }

  #schedule(): void {
    const { world, database } = this.#options;
    if (this.#commits >= database.commitsMax) return;
    this.#commits++;
    // A database that takes one commit at a time groups the writes itself: the batch is filled when
    // its transaction starts.
    if (database.commitsMax === 1) void this.#commitPending([]);
    else world.afterTurn(() => this.#commitTurn());
  }

  /** All reports of a turn are one commit: each of them has scheduled one. */
  #commitTurn(): void {
    const batch = this.#takeBatch();
    if (batch.length > 0) void this.#commitPending(batch);
    else this.#commits--;
  }

  async #commitPending(batch: Pending[]): Promise<void> {
    await this.#commit(batch);
    for (const { report } of batch) this.#committing.delete(report.lease);
    this.#commits--;
    this.#options.ring(batch.some(mayFreeWork) ? 'work' : 'news');
    if (this.#pending.length > 0) this.#schedule();
  }

  #takeBatch(): Pending[] {
    const batch: Pending[] = [];
    const rest: Pending[] = [];
    for (const pending of this.#pending) {
      const waits = this.#committing.has(pending.report.lease);
      (waits || batch.length >= limits.lease.commitBatchMax ? rest : batch).push(pending);
    }
    for (const { report } of batch) this.#committing.add(report.lease);
    this.#pending = rest;
    return batch;
  }

  /** Commits the batch. An empty batch is filled when its transaction starts. */
  async #commit(batch: Pending[]): Promise<void> {
    const { database, lifecycle, world } = this.#options;
    try {
      const verdicts = await database.write(async (transaction) => {
        if (batch.length === 0) batch.push(...this.#takeBatch());
        const reports = batch.map(({ report }) => report);
        const now = database.now();
        const applied = await applyReports(transaction, { reports, lifecycle, now });
        failpoint(world, 'report.before-commit');
        return applied;
      });
      failpoint(world, 'report.after-commit');
      batch.forEach(({ resolve }, index) => {
        resolve(verdicts[index] as Verdict);
      });
    } catch (error) {
      // The transaction did not start: the store is closed or unreachable.
      const isUnbegun = batch.length === 0;
      if (isUnbegun) batch.push(...this.#takeBatch());
      if (isUnbegun || batch.length === 1) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // The effect of one report failed the commit for all: each is retried alone.
      for (const pending of batch) await this.#commit([pending]);
    }
  }
}

/** A report that frees a slot at a gate, or returns its item to the queue. */
function mayFreeWork({ report }: Pending): boolean {
  return report.lease.gate !== null || report.move.to === 'turn';
}
