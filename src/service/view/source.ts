/** Sources and runs as the contract shows them. */
import type * as schema from '../../contract/schema/source.ts';
import type { SyncOptions } from '../../engine/sync/source-kind.ts';
import type { RunCause } from '../../engine/sync/start.ts';
import { failures, isFailureCode } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { countRemoved, type RemovedRow } from '../../store/document/removed.ts';
import type { Reader } from '../../store/driver/database.ts';
import { type ChangeRow, countChanges } from '../../store/sync/changes.ts';
import { countEntries } from '../../store/sync/entries.ts';
import { listRuns, type SyncRunRow } from '../../store/sync/runs.ts';
import type { SyncSourceRow } from '../../store/sync/sources.ts';
import { maybeTimeOf, timeOf } from './serializer.ts';

export async function sourceShape(reader: Reader, row: SyncSourceRow): Promise<schema.SyncSource> {
  const newest = { source_id: row.id, before: Number.MAX_SAFE_INTEGER, limit: 1 };
  const [run] = await listRuns(reader, newest);
  const { followLinks, budgetCents, holdAbovePercent, ...options }: SyncOptions = JSON.parse(
    row.options,
  );
  return {
    name: row.name,
    corpus_name: row.corpus,
    kind: row.kind,
    location: row.location,
    ...(options as Pick<schema.SyncSource, 'include' | 'exclude'>),
    ...(followLinks !== undefined && { follow_links: followLinks }),
    ...(budgetCents !== undefined && { budget_cents: budgetCents }),
    ...(holdAbovePercent !== undefined && { hold_above_percent: holdAbovePercent }),
    schedule: row.schedule,
    state: row.state,
    documents: await countEntries(reader, row.id),
    removed: await countRemoved(reader, row.id),
    next_run_at: maybeTimeOf(row.next_at),
    webhook: row.hook === null ? null : hookPath(row.hook),
    synced_at: maybeTimeOf(row.synced_at),
    error: errorShape(row.error),
    last_run: run ? await runShape(reader, row.name, run) : null,
    created_at: timeOf(row.created_at),
  };
}

export function hookPath(hook: string): string {
  return `/hooks/${hook}`;
}

export async function runShape(
  reader: Reader,
  source: string,
  row: SyncRunRow,
): Promise<schema.SyncRun> {
  const counts = await countChanges(reader, row.id);
  const { added, changed, moved, restored, removed } = counts;
  return {
    run_id: row.id,
    source,
    state: row.state,
    cause: row.cause as RunCause,
    is_plan: row.is_plan === 1,
    listed: row.listed,
    found: {
      added: added.all,
      changed: changed.all,
      moved: moved.all,
      restored: restored.all,
      removed: removed.all,
      unchanged: row.unchanged,
    },
    open: Object.values(counts).reduce((sum, { open }) => sum + open, 0),
    job_ids: JSON.parse(row.job_keys),
    error: errorShape(row.error),
    created_at: timeOf(row.created_at),
    ended_at: maybeTimeOf(row.ended_at),
  };
}

export function changeShape(row: ChangeRow): schema.SyncChange {
  const { kind, key, from_key, document_id, evidence } = row;
  return { kind, key, from_key, document_id, evidence, is_applied: row.is_applied === 1 };
}

export function removedShape(row: RemovedRow): schema.RemovedDocument {
  return {
    key: row.key ?? '',
    document_id: row.document_id,
    removed_at: timeOf(row.removed_at),
    restorable_until: timeOf(row.removed_at + limits.sync.restoreMs),
  };
}

function errorShape(error: string | null): schema.SyncSource['error'] {
  if (error === null) return null;
  const { code, message } = JSON.parse(error);
  const advice = isFailureCode(code) ? failures[code].advice : '';
  return { code, message, advice };
}
