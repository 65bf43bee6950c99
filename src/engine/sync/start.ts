/** Begins a run of a source, unless one is in progress. */

import { syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import { followedStates } from '../../kernel/lifecycle/sync-source.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { countEntries } from '../../store/sync/entries.ts';
import { getOpenRun, insertRun, type SyncRunRow } from '../../store/sync/runs.ts';
import { getSyncSourceById, setNextRun } from '../../store/sync/sources.ts';
import { cancelOpenRun } from '../command/remove-sources.ts';
import { nextRunOf } from './end.ts';

/** Why a run began. */
export const runCauses = ['schedule', 'request', 'watch', 'webhook'] as const;

export type RunCause = (typeof runCauses)[number];

export interface RunStart {
  readonly sourceId: number;
  readonly cause: RunCause;
  readonly isPlan: boolean;
}

/**
 * Returns the id of the open run: a new one, or the one in progress, which a further run follows.
 * A held run is replaced: what it would remove is found again, if it is still missing. Undefined:
 * the source is not followed now.
 */
export async function startRun(
  transaction: Transaction,
  { sourceId, cause, isPlan }: RunStart,
  now: number,
): Promise<number | undefined> {
  const source = await getSyncSourceById(transaction, sourceId);
  if (!source || !followedStates.includes(source.state)) return undefined;
  const open = await getOpenRun(transaction, sourceId);
  if (open && isInProgress(open)) {
    if (!isPlan) await setNextRun(transaction, { id: sourceId, next_at: soonest(source, now) });
    return open.id;
  }
  if (open && !isPlan) await cancelOpenRun(transaction, sourceId, now);
  if (open && isPlan) return open.id;
  const entries_before = await countEntries(transaction, sourceId);
  const run = { source_id: sourceId, cause, is_plan: isPlan ? 1 : 0, entries_before, now };
  const id = await insertRun(transaction, run);
  if (!isPlan) {
    const nextAt = nextRunOf({ ...source, next_at: null }, now);
    await setNextRun(transaction, { id: sourceId, next_at: nextAt });
  }
  const { name, caller, corpus } = source;
  const detail = { source: name, run: id, caller, corpus, cause };
  await appendEvents(transaction, [{ kind: 'sync_started', jobId: null, detail }], now);
  return id;
}

/** What changed after a run had listed it is found by the next one. */
function soonest({ next_at }: { readonly next_at: number | null }, now: number): number {
  return Math.min(next_at ?? now, now);
}

function isInProgress({ state }: SyncRunRow): boolean {
  return state !== syncRunState.held;
}
