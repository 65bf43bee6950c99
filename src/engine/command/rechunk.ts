/** Changes how a corpus is split into chunks, and starts the job that splits documents again. */

import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import {
  type Chunking,
  type ChunkingChange,
  changedChunking,
  readChunking,
  storedChunking,
} from '../../kernel/text/chunking.ts';
import { listToChunk } from '../../store/corpus/rechunking.ts';
import {
  addCorpusSettings,
  type CorpusKey,
  lockCorpusSettings,
  setChunking,
} from '../../store/corpus/settings.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { insertSubmission } from '../../store/job/submit.ts';

export interface RechunkInput extends CorpusKey {
  readonly change: ChunkingChange;
  readonly budgetCents?: number | undefined;
}

export interface Rechunked {
  readonly chunking: Chunking;
  /** Undefined: no document has to be split again. */
  readonly jobKey: string | undefined;
}

/**
 * From this commit on, new texts are split by these values. Documents that are split by others are
 * searched as they are until the job has replaced them, one by one.
 */
export async function beginRechunking(
  transaction: Transaction,
  { caller, corpus, change, budgetCents }: RechunkInput,
  { key, now }: { readonly key: string; readonly now: number },
): Promise<Rechunked> {
  const place = placeOf({ caller, corpus });
  // The row must exist to be locked.
  await addCorpusSettings(transaction, place);
  const settings = await lockCorpusSettings(transaction, place);
  const chunking = changedChunking(readChunking(settings.chunking), change);
  const stored = storedChunking(chunking);
  await setChunking(transaction, { ...place, chunking: stored });
  const sources = await listToChunk(transaction, { ...place, chunking: stored, after: '' });
  if (sources.length === 0) return { chunking, jobKey: undefined };
  const priority = limits.fairness.priorityDefault;
  const job = { caller, corpus, sources, priority, budgetCents };
  await insertSubmission(transaction, { ...job, key, type: 'rechunk', force: false, now });
  return { chunking, jobKey: key };
}
