/**
 * Start-time fair queueing. Every item gets its place in virtual time, its rank, when it is
 * enqueued, and the lowest rank is claimed first. Virtual time is counted in items and advances
 * only when items are claimed; it does not pass items that wait for a place at a service. A
 * caller's items follow one another. An idle caller's next items start at the present, never in the
 *
 * past, so neither a backlog nor a pause gives an advantage.
 * Priority is a head start of a bounded number of items. The caller's own finish time still
 *
 * advances, so after at most that many items a caller with priority is level with the others.
 */
import assert from 'node:assert/strict';
import { limits } from './limits/limits.ts';

export interface RankRequest {
  /** The present: the highest rank claimed so far by anyone, or the lowest rank still waiting. */
  readonly virtualTime: number;
  /** Where this caller's earlier items end; 0 for a new caller. */
  readonly finish: number;
  readonly count: number;
  readonly priority: number;
}

export interface RankRange {
  /** The first item's rank; the others follow one by one. */
  readonly firstRank: number;
  /** The caller's new finish, stored for the next request. */
  readonly finish: number;
}

export function assignRanks({ virtualTime, finish, count, priority }: RankRequest): RankRange {
  const { priorityMin, priorityMax, headStart } = limits.fairness;
  for (const value of [virtualTime, finish, count, priority]) assert(Number.isSafeInteger(value));
  assert(count >= 0, `cannot rank ${count} items`);
  assert(priority >= priorityMin && priority <= priorityMax, `no priority is called ${priority}`);
  const start = Math.max(virtualTime, finish);
  return { firstRank: start - priority * headStart, finish: start + count };
}
