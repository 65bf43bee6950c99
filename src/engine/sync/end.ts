/** The end of a run, and what it means for its source: when it runs next, and whether it fails. */
import { backoffMs } from '../../kernel/backoff.ts';
import type { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { nextTime, parseSchedule } from '../../kernel/schedule.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { countChanges } from '../../store/sync/changes.ts';
import {
  getSyncSourceById,
  moveSyncSource,
  type SyncSourceRow,
  setSynced,
} from '../../store/sync/sources.ts';
import { errorOf, type SourceRun } from './run.ts';

/** When the source runs next. A request that came during the run is still due. */
export function nextRunOf(
  { schedule, next_at, quiet_runs }: SyncSourceRow,
  now: number,
): number | null {
  if (next_at !== null && next_at <= now) return next_at;
  return schedule === null ? null : nextTime(parseSchedule(schedule), now, quiet_runs);
}

/** Everything but the removals is applied; these wait for a person. */
export async function holdRun(run: SourceRun): Promise<void> {
  await run.commit('hold', {}, async (transaction, now) => {
    await recovered(transaction, run, now);
    await appendEvents(transaction, [await eventOf(transaction, run, 'sync_held')], now);
  });
}

export async function endRun(run: SourceRun): Promise<void> {
  const { row } = run;
  const isComplete = row.error === null;
  await run.commit(isComplete ? 'succeed' : 'end_partly', {}, async (transaction, now) => {
    if (row.is_plan === 0) {
      if (isComplete) {
        const quiet_runs = await quietRunsOf(transaction, run);
        const { cursor } = run;
        await setSynced(transaction, { id: row.source_id, cursor, quiet_runs, now });
        await recovered(transaction, run, now);
      } else {
        await failing(transaction, run, { error: row.error as string, now });
      }
    }
    await appendEvents(transaction, [await eventOf(transaction, run, 'sync_ended')], now);
  });
}

/** How many runs in a row have found no change, with this one. */
async function quietRunsOf(transaction: Transaction, { row }: SourceRun): Promise<number> {
  const counts = Object.values(await countChanges(transaction, row.id));
  if (counts.some(({ all }) => all > 0)) return 0;
  const source = await getSyncSourceById(transaction, row.source_id);
  return Math.min((source?.quiet_runs ?? 0) + 1, limits.sync.quietRunsMax);
}

/** The documents stay. The next run is tried later, and later each time. */
export async function failRun(run: SourceRun, failure: Failure): Promise<void> {
  const error = errorOf(failure);
  await run.commit('fail', { error }, async (transaction, now) => {
    if (run.row.is_plan === 0) await failing(transaction, run, { error, now });
    await appendEvents(transaction, [await eventOf(transaction, run, 'sync_ended')], now);
  });
}

async function recovered(transaction: Transaction, run: SourceRun, now: number): Promise<void> {
  const source = await getSyncSourceById(transaction, run.row.source_id);
  if (!source) return;
  const nextAt = nextRunOf(source, now);
  await moveSyncSource(transaction, { id: source.id, event: 'recover', nextAt, now });
}

async function failing(
  transaction: Transaction,
  { row, options: { world } }: SourceRun,
  { error, now }: { readonly error: string; readonly now: number },
): Promise<void> {
  const source = await getSyncSourceById(transaction, row.source_id);
  if (!source) return;
  const { retryMsMin, retryMsMax } = limits.sync;
  const wait = backoffMs({
    failedTries: source.failures,
    baseMs: retryMsMin,
    factor: 2,
    capMs: retryMsMax,
    random: () => world.random(),
  });
  const nextAt = source.schedule === null ? null : now + wait;
  const failures = source.failures + 1;
  await moveSyncSource(transaction, { id: source.id, event: 'fail', nextAt, failures, error, now });
}

async function eventOf(
  transaction: Transaction,
  { row, options: { source } }: SourceRun,
  kind: 'sync_held' | 'sync_ended',
): Promise<NewEvent> {
  const counts = await countChanges(transaction, row.id);
  const found = Object.entries(counts).map(([name, { all }]) => [name, all]);
  const { caller, corpus, name } = source;
  const detail = { source: name, run: row.id, caller, corpus, ...Object.fromEntries(found) };
  return { kind, jobId: null, detail };
}
