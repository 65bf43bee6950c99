/** Begins a run of a source. Runs and plans of one source wait for each other. */

import { syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import { followedStates } from '../../kernel/lifecycle/sync-source.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { countEntries } from '../../store/sync/entries.ts';
import {
  getHeldRun,
  insertRun,
  listOpenRuns,
  type SyncRunRow,
  setEntriesBefore,
} from '../../store/sync/runs.ts';
import { getSyncSourceById, setNextRun } from '../../store/sync/sources.ts';
import { cancelRuns } from '../command/remove-sources.ts';
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
 * Returns the id of a run that lists the source after this moment: a new one, or one that still
 * waits for another. The schedule starts none while one is in progress: it stays due. Undefined:
 * no run is started, or the source is not followed now.
 */
export async function startRun(
  transaction: Transaction,
  { sourceId, cause, isPlan }: RunStart,
  now: number,
): Promise<number | undefined> {
  const source = await getSyncSourceById(transaction, sourceId);
  if (!source || !followedStates.includes(source.state)) return undefined;
  const before = (await listOpenRuns(transaction, sourceId)).filter(isInProgress);
  const waiting = before.find((run) => hasNotBegun(run) && (run.is_plan === 1) === isPlan);
  if (waiting) return waiting.id;
  if (cause === 'schedule' && before.length > 0) return undefined;
  const run = { source_id: sourceId, cause, is_plan: isPlan ? 1 : 0, now };
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

/**
 * A run that begins to list. It replaces a held one: what that would remove is found again, if it
 * is still missing.
 */
export async function beginListing(
  transaction: Transaction,
  { id, source_id, is_plan }: SyncRunRow,
  now: number,
): Promise<void> {
  const entries_before = await countEntries(transaction, source_id);
  await setEntriesBefore(transaction, { id, entries_before });
  const held = is_plan === 1 ? undefined : await getHeldRun(transaction, source_id);
  if (held) await cancelRuns(transaction, [held], now);
}

function isInProgress({ state }: SyncRunRow): boolean {
  return state !== syncRunState.held;
}

/** No process has taken it yet. */
function hasNotBegun({ worker }: SyncRunRow): boolean {
  return worker === null;
}
