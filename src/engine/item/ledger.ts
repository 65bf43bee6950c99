/**
 * The port between the item engine and the store: claim items, renew their leases, report outcomes.
 * `StoreLedger` implements it. The simulation and the contract tests wrap that one, to lose, delay
 * and repeat its requests and its responses.
 */

import type { Claim, ClaimedRow } from '../../store/item/moves.ts';
import type { Lease, Report, Verdict } from '../../store/item/reports.ts';

export interface Ledger {
  /** Leases items: so many, or as many as services have free slots, or one that must run alone. */
  claim(worker: string, take: Claim['take']): Promise<ClaimedRow[]>;
  /** Resolves when the report is on disk. A refused report means that the lease is lost. */
  report(report: Report): Promise<Verdict>;
  /**
   * Renews the worker's leases, and the heartbeat of their jobs. False: the worker was declared
   * dead, and all of its leases are lost.
   */
  beat(worker: string, jobIds?: readonly number[]): Promise<boolean>;
  /** The worker's leases in the store: item to epoch. */
  leases(worker: string): Promise<ReadonlyMap<number, number>>;
  /** Returns leases to the queue that are stored, but unknown to the worker. */
  handBack(leases: readonly { id: number; epoch: number }[]): Promise<void>;
}

export function leaseOf(row: ClaimedRow, worker: string): Lease {
  const { id, job_id, epoch, rank, gate } = row;
  return { itemId: id, jobId: job_id, worker, epoch, rank, gate };
}
