/** Sources that corpora follow, and the only writer of their `state`. */

import { sqlList } from '../../kernel/lifecycle/machine.ts';
import {
  followedStates,
  keptSourceStates,
  type SyncSourceEvent,
  type SyncSourceState,
  syncSource,
  syncSourceEvents,
  syncSourceMoves,
  syncSourceState,
} from '../../kernel/lifecycle/sync-source.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import { compileStateMove } from '../batch/compile-move.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, first, hits } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface SyncSourceRow {
  readonly id: number;
  readonly caller: string;
  /** The corpus as the caller names it. */
  readonly corpus: string;
  readonly place_caller: string;
  readonly place_corpus: string;
  readonly name: string;
  readonly kind: string;
  readonly location: string;
  /** JSON of the options of its kind. */
  readonly options: string;
  /** Null: it runs on demand only. */
  readonly schedule: string | null;
  /** The longest interval of the schedule, if it has intervals. */
  readonly every_ms: number | null;
  readonly state: SyncSourceState;
  /** When the next run is due; null: never. */
  readonly next_at: number | null;
  /** What the last listing left for the next one. */
  readonly cursor: string | null;
  /** Runs in a row that found no change. */
  readonly quiet_runs: number;
  /** The address that takes messages of a change, and their secret; null: there is none. */
  readonly hook: string | null;
  readonly hook_secret: string | null;
  /** Failed runs in a row. */
  readonly failures: number;
  /** JSON of the last failure, while it is failing. */
  readonly error: string | null;
  /** The last time that the corpus was equal to the source. */
  readonly synced_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export type NewSyncSource = Omit<
  SyncSourceRow,
  | ('id' | 'state' | 'cursor' | 'failures' | 'error' | 'synced_at' | 'created_at' | 'updated_at')
  | ('quiet_runs' | 'hook' | 'hook_secret')
> & { readonly now: number };

const kept = sqlList(keptSourceStates);
const insert = sql<{ id: number }>`
  INSERT INTO sync_sources (caller, corpus, place_caller, place_corpus, name, kind, location,
    options, schedule, every_ms, state, next_at, created_at, updated_at)
  VALUES (:caller, :corpus, :place_caller, :place_corpus, :name, :kind, :location, :options,
    :schedule, :every_ms, '${syncSource.initial}', :next_at, :now, :now)
  ON CONFLICT DO NOTHING RETURNING id`;

/** Undefined: the caller has a source of this name. */
export async function insertSyncSource(
  transaction: Transaction,
  source: NewSyncSource,
): Promise<number | undefined> {
  const [row] = await transaction.run(insert, { ...source });
  return row?.id;
}

export const getSyncSource = first<{ caller: string; name: string }, SyncSourceRow>`
  SELECT * FROM sync_sources WHERE caller = :caller AND name = :name AND state IN (${kept})`;

export const getSyncSourceById = first<number, SyncSourceRow>`
  SELECT * FROM sync_sources WHERE id = :id`;

export const listSyncSources = all<{ caller: string; limit: number }, SyncSourceRow>`
  SELECT * FROM sync_sources WHERE caller = :caller AND state IN (${kept})
  ORDER BY name LIMIT :limit`;

export const getSourceOfHook = first<string, SyncSourceRow>`
  SELECT * FROM sync_sources WHERE hook = :hook AND state IN (${kept})`;

/** The source of a caller that follows this location for this corpus. */
export const findSyncSource = first<
  { caller: string; corpus: string; kind: string; location: string },
  SyncSourceRow
>`
  SELECT * FROM sync_sources WHERE caller = :caller AND corpus = :corpus AND kind = :kind
    AND location = :location AND state IN (${kept}) ORDER BY id LIMIT 1`;

/**
 * Sources whose time has come. A time that is further away than the interval allows was set before
 * the clock went back.
 */
export const listDue = all<{ now: number; retry_ms: number; limit: number }, SyncSourceRow>`
  SELECT * FROM sync_sources WHERE (next_at <= :now
      OR next_at > :now + {greatest}(COALESCE(every_ms, next_at), :retry_ms))
    AND state IN (${sqlList(followedStates)})
  ORDER BY next_at LIMIT :limit`;

const ofPlace = sql<SyncSourceRow>`
  SELECT * FROM sync_sources
  WHERE place_caller = :caller AND place_corpus = :corpus AND state IN (${kept})`;

export function listSourcesOfCorpus(
  reader: Reader,
  { caller, corpus }: CorpusPlace,
): Promise<SyncSourceRow[]> {
  return reader.run(ofPlace, { caller, corpus });
}

const moveRow = (event: SyncSourceEvent) => {
  const { set, where } = compileStateMove(syncSourceMoves[event]);
  return sql<{ id: number }>`
    UPDATE sync_sources SET ${set}, next_at = :next_at, failures = :failures, error = :error,
      updated_at = :now
    WHERE id = :id AND ${where} RETURNING id`;
};
const moveRows = Object.fromEntries(
  syncSourceEvents.map((event) => [event, moveRow(event)]),
) as Record<SyncSourceEvent, ReturnType<typeof moveRow>>;

export interface SyncSourceMoved {
  readonly id: number;
  readonly event: SyncSourceEvent;
  readonly nextAt: number | null;
  readonly failures?: number | undefined;
  readonly error?: string | undefined;
  readonly now: number;
}

/** False: the table has no such move from its state. */
export async function moveSyncSource(
  transaction: Transaction,
  { id, event, nextAt, failures = 0, error, now }: SyncSourceMoved,
): Promise<boolean> {
  const row = { id, next_at: nextAt, failures, error: error ?? null, now };
  return (await transaction.run(moveRows[event], row)).length > 0;
}

export const setNextRun = hits<{ id: number; next_at: number | null }, Transaction>`
  UPDATE sync_sources SET next_at = :next_at WHERE id = :id RETURNING id`;

export const setSchedule = hits<
  Pick<SyncSourceRow, 'id' | 'schedule' | 'every_ms' | 'options' | 'next_at'> & { now: number },
  Transaction
>`
  UPDATE sync_sources SET schedule = :schedule, every_ms = :every_ms,
    options = :options, cursor = NULL, next_at = :next_at, updated_at = :now
  WHERE id = :id RETURNING id`;

interface Synced {
  readonly id: number;
  readonly cursor: string | null;
  readonly quiet_runs: number;
  readonly now: number;
}

export const setSynced = hits<Synced, Transaction>`
  UPDATE sync_sources SET synced_at = :now, cursor = COALESCE(:cursor, cursor),
    quiet_runs = :quiet_runs
  WHERE id = :id RETURNING id`;

export const setHook = hits<Pick<SyncSourceRow, 'id' | 'hook' | 'hook_secret'>, Transaction>`
  UPDATE sync_sources SET hook = :hook, hook_secret = :hook_secret WHERE id = :id RETURNING id`;

const removedSources = sql<{ id: number }>`
  SELECT id FROM sync_sources WHERE state = '${syncSourceState.removed}' LIMIT :limit`;
const purgeEntries = sql<{ key: string }>`
  DELETE FROM sync_entries WHERE source_id = :source_id AND key IN
    (SELECT key FROM sync_entries WHERE source_id = :source_id LIMIT :limit) RETURNING key`;
const purgeRuns = sql<{ id: number }>`
  DELETE FROM sync_runs WHERE source_id = :source_id
    AND NOT EXISTS (SELECT 1 FROM sync_changes WHERE sync_changes.run_id = sync_runs.id)
  RETURNING id`;
const purgeChanges = sql<{ id: number }>`
  DELETE FROM sync_changes WHERE id IN (SELECT sync_changes.id FROM sync_changes
    JOIN sync_runs ON sync_runs.id = sync_changes.run_id
    WHERE sync_runs.source_id = :source_id LIMIT :limit) RETURNING id`;
const purgeSource = sql`DELETE FROM sync_sources WHERE id = :source_id`;

/** Deletes a page of what removed sources left. Returns how many rows. */
export async function purgeSources(transaction: Transaction, limit: number): Promise<number> {
  let purged = 0;
  for (const { id: source_id } of await transaction.run(removedSources, { limit: 1 })) {
    const entries = await transaction.run(purgeEntries, { source_id, limit });
    const changes = await transaction.run(purgeChanges, { source_id, limit });
    purged += entries.length + changes.length;
    if (purged > 0) continue;
    await transaction.run(purgeRuns, { source_id });
    await transaction.run(purgeSource, { source_id });
    purged += 1;
  }
  return purged;
}
