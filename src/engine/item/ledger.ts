/**
 * The ledger answers a worker's three questions: what may I work on, am I still alive, and is this
 * outcome taken down? In one process it is the store; between services it is the orchestrator. The
 * executor does not know which.
 */

import type { ClaimedRow } from '../../store/item/moves.ts';
import type { Lease, Report, Verdict } from '../../store/item/reports.ts';
import type { Seats } from '../../store/item/seating.ts';

export interface Ledger {
  claim(worker: string, count: number): Promise<ClaimedRow[]>;
  /** As many as there are free places where their next steps are done. */
  claimSeated(worker: string, seats: Seats): Promise<ClaimedRow[]>;
  /** An item that must run alone, and was alone at no more than so many deaths; none, or one. */
  claimSuspect(worker: string, loneDeathsMax: number): Promise<ClaimedRow[]>;
  /** Resolves when the report is on disk, with its verdict: refused means the lease is gone. */
  report(report: Report): Promise<Verdict>;
  /**
   * Also for the jobs that the worker works on. False: the worker has been given up, and with it
   * all of its leases.
   */
  beat(worker: string, jobIds?: readonly number[]): Promise<boolean>;
  /** The leases that the worker holds, by item and epoch. */
  leases(worker: string): Promise<ReadonlyMap<number, number>>;
  /** Puts leases back into the queue that are stored, but that the worker does not know of. */
  handBack(leases: readonly { id: number; epoch: number }[]): Promise<void>;
}

export function leaseOf(row: ClaimedRow, worker: string): Lease {
  const { id, job_id, epoch, rank, gate } = row;
  return { itemId: id, jobId: job_id, worker, epoch, rank, gate };
}
