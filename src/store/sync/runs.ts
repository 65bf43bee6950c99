/**
 * Runs of sources, and the only writer of their `state`. A process that works on a run has taken
 * it, which raised its epoch. Every commit of a run is a compare-and-set on epoch and state, so a
 * process that was given up changes nothing.
 */
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import {
  isFinalRun,
  openRunStates,
  type SyncRunEvent,
  type SyncRunState,
  syncRun,
  syncRunEvents,
  syncRunMoves,
  syncRunState,
  workedRunStates,
} from '../../kernel/lifecycle/sync-run.ts';
import { compileStateMove } from '../batch/compile-move.ts';
import type { Transaction } from '../driver/database.ts';
import { all, first, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface SyncRunRow {
  readonly id: number;
  readonly source_id: number;
  readonly cause: string;
  /** Only finds what it would do. */
  readonly is_plan: number;
  readonly state: SyncRunState;
  /** What a person decided about held removals: `apply` or `ignore`. */
  readonly removals: 'apply' | 'ignore' | null;
  /** How far the present state has come: a key of the listing, or the id of a change. */
  readonly cursor: string;
  readonly listed: number;
  readonly unchanged: number;
  /** The entries of the source when the run began. */
  readonly entries_before: number;
  /** JSON: the jobs that the run submitted. */
  readonly job_keys: string;
  /** JSON of why it failed, or why its listing is incomplete. */
  readonly error: string | null;
  readonly worker: string | null;
  readonly epoch: number;
  readonly held_until: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
}

const insert = sql<{ id: number }>`
  INSERT INTO sync_runs (source_id, cause, is_plan, state, entries_before, job_keys, created_at,
    updated_at)
  VALUES (:source_id, :cause, :is_plan, '${syncRun.initial}', 0, '[]', :now, :now)
  RETURNING id`;

export interface NewSyncRun {
  readonly source_id: number;
  readonly cause: string;
  readonly is_plan: number;
  readonly now: number;
}

/** It begins when no older run of its source is in progress. */
export async function insertRun(transaction: Transaction, run: NewSyncRun): Promise<number> {
  const [row] = await transaction.run(insert, { ...run });
  return (row as { id: number }).id;
}

export const setEntriesBefore = write<{ id: number; entries_before: number }>`
  UPDATE sync_runs SET entries_before = :entries_before WHERE id = :id`;

export const getRun = first<number, SyncRunRow>`SELECT * FROM sync_runs WHERE id = :id`;

/** Oldest first: each waits for those before it, unless they wait for a person. */
export const listOpenRuns = all<number, SyncRunRow>`
  SELECT * FROM sync_runs WHERE source_id = :source_id AND state IN (${sqlList(openRunStates)})
  ORDER BY id`;

export const getHeldRun = first<number, SyncRunRow>`
  SELECT * FROM sync_runs WHERE source_id = :source_id AND state = '${syncRunState.held}'
  ORDER BY id DESC LIMIT 1`;

export const listRuns = all<{ source_id: number; before: number; limit: number }, SyncRunRow>`
  SELECT * FROM sync_runs WHERE source_id = :source_id AND id < :before
  ORDER BY id DESC LIMIT :limit`;

/** Runs that wait for a person. */
export const listHeldRuns = all<string, SyncRunRow & { readonly name: string }>`
  SELECT sync_runs.*, sync_sources.name FROM sync_runs
  JOIN sync_sources ON sync_sources.id = sync_runs.source_id
  WHERE sync_sources.caller = :caller AND sync_runs.state = '${syncRunState.held}'
  ORDER BY sync_runs.id`;

const takeRows = sql<SyncRunRow>`
  UPDATE sync_runs SET epoch = epoch + 1, worker = :worker, held_until = :held_until
  WHERE id IN (SELECT id FROM sync_runs
    WHERE state IN (${sqlList(workedRunStates)}) AND (held_until <= :now
      OR worker IS NULL OR NOT EXISTS (SELECT 1 FROM workers WHERE workers.id = sync_runs.worker))
      AND NOT EXISTS (SELECT 1 FROM sync_runs AS older
        WHERE older.source_id = sync_runs.source_id AND older.id < sync_runs.id
          AND older.state IN (${sqlList(workedRunStates)}))
    ORDER BY id LIMIT :limit {skipLocked})
  RETURNING *`;

export interface TakenBy {
  readonly worker: string;
  readonly now: number;
  readonly heldUntil: number;
  readonly limit: number;
}

/** Takes runs that no live process works on, and that wait for no other run of their source. */
export function takeRuns(
  transaction: Transaction,
  { worker, now, heldUntil, limit }: TakenBy,
): Promise<SyncRunRow[]> {
  return transaction.run(takeRows, { worker, now, held_until: heldUntil, limit });
}

const moveRow = (event: SyncRunEvent) => {
  const { set, where } = compileStateMove(syncRunMoves[event]);
  const isEnd = isFinalRun(syncRunMoves[event].to);
  return sql<SyncRunRow>`
    UPDATE sync_runs SET ${set}, cursor = :cursor, listed = listed + :listed,
      unchanged = unchanged + :unchanged, removals = COALESCE(:removals, removals),
      job_keys = COALESCE(:job_keys, job_keys), error = COALESCE(:error, error),
      held_until = :held_until, updated_at = :now${isEnd ? ', ended_at = :now' : ''}
    WHERE id = :id AND ${where} RETURNING *`;
};
const moveRows = Object.fromEntries(
  syncRunEvents.map((event) => [event, moveRow(event)]),
) as Record<SyncRunEvent, ReturnType<typeof moveRow>>;

export interface SyncRunMoved {
  readonly id: number;
  readonly epoch: number;
  readonly event: SyncRunEvent;
  readonly cursor?: string | undefined;
  readonly listed?: number | undefined;
  readonly unchanged?: number | undefined;
  readonly removals?: 'apply' | 'ignore' | undefined;
  readonly jobKeys?: readonly string[] | undefined;
  readonly error?: string | undefined;
  readonly heldUntil?: number | undefined;
  readonly now: number;
}

/** Undefined: it was taken away, or is in another state. */
export async function moveRun(
  transaction: Transaction,
  move: SyncRunMoved,
): Promise<SyncRunRow | undefined> {
  const { id, epoch, event, now, jobKeys } = move;
  const [row] = await transaction.run(moveRows[event], {
    id,
    now,
    // Only moves of the holder compare it.
    ...(syncRunMoves[event].by === 'holder' && { epoch }),
    cursor: move.cursor ?? '',
    listed: move.listed ?? 0,
    unchanged: move.unchanged ?? 0,
    removals: move.removals ?? null,
    job_keys: jobKeys ? JSON.stringify(jobKeys) : null,
    error: move.error ?? null,
    held_until: move.heldUntil ?? 0,
  });
  return row;
}

const oldRuns = sql<{ id: number }>`
  SELECT id FROM sync_runs AS old WHERE ended_at IS NOT NULL
    AND (SELECT COUNT(*) FROM sync_runs AS newer
      WHERE newer.source_id = old.source_id AND newer.id > old.id) >= :kept
  ORDER BY id LIMIT 1`;
const purgeChanges = sql<{ id: number }>`
  DELETE FROM sync_changes WHERE id IN
    (SELECT id FROM sync_changes WHERE run_id = :run_id LIMIT :limit) RETURNING id`;
const purgeRun = sql`DELETE FROM sync_runs WHERE id = :run_id`;

/** Deletes old runs, a page at a time. Returns how many rows. */
export async function purgeRuns(
  transaction: Transaction,
  { kept, limit }: { kept: number; limit: number },
): Promise<number> {
  const [run] = await transaction.run(oldRuns, { kept });
  if (!run) return 0;
  const changes = await transaction.run(purgeChanges, { run_id: run.id, limit });
  if (changes.length === 0) await transaction.run(purgeRun, { run_id: run.id });
  return changes.length + 1;
}
