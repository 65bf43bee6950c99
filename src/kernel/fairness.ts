/**
 * Start-time fair queueing. Every item gets its place in virtual time, its rank, when it is
 * enqueued, and the lowest rank is claimed first. Virtual time is counted in items and moves only
 * when items are claimed; it does not pass those that wait for a place at a service. A caller's
 * items follow one another; an idle caller's begin at the present, never in the past, so neither a
 * backlog nor a rest buys anything.
 *
 * Priority is a head start of a bounded number of items. It never lets a caller's own finish time
 * stand still, so whoever uses it comes level with the others after at most that many items.
 */
import assert from 'node:assert/strict';
import { limits } from './limits/limits.ts';

export interface RankRequest {
  /** The present: the highest rank claimed so far, by anyone, or the first that waits still. */
  readonly virtualTime: number;
  /** Where this caller's earlier items end; 0 for a caller never seen. */
  readonly finish: number;
  readonly count: number;
  readonly priority: number;
}

export interface RankRange {
  /** The first item's rank; the others follow one by one. */
  readonly firstRank: number;
  /** The caller's new finish, to be kept for the next request. */
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
