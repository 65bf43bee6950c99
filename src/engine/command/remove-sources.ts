/** A deleted corpus follows nothing: a later run would create it again. */
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import { purgeRemovedOf } from '../../store/document/removed.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { listOpenRuns, moveRun, type SyncRunRow } from '../../store/sync/runs.ts';
import { listSourcesOfCorpus, moveSyncSource } from '../../store/sync/sources.ts';

export async function removeSourcesOf(
  transaction: Transaction,
  place: CorpusPlace,
  now: number,
): Promise<void> {
  for (const { id } of await listSourcesOfCorpus(transaction, place)) {
    await removeSource(transaction, id, now);
  }
  await purgeRemovedOf(transaction, place);
}

/** The source ends with its open run. What it has stored is purged in pages. */
export async function removeSource(
  transaction: Transaction,
  id: number,
  now: number,
): Promise<boolean> {
  const isMoved = await moveSyncSource(transaction, { id, event: 'remove', nextAt: null, now });
  if (isMoved) await cancelRuns(transaction, await listOpenRuns(transaction, id), now);
  return isMoved;
}

/** A holder of such a run is fenced off. */
export async function cancelRuns(
  transaction: Transaction,
  runs: readonly SyncRunRow[],
  now: number,
): Promise<void> {
  for (const { id, epoch, cursor } of runs) {
    await moveRun(transaction, { id, epoch, event: 'cancel', cursor, now });
  }
}
