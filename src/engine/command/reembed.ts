/** Starts and cancels the re-embedding of a corpus. */

import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { embedUse, type Origin } from '../../kernel/name/origin.ts';
import { replaceOrigin } from '../../store/corpus/origins.ts';
import { listToReembed, pruneVectorsOf } from '../../store/corpus/reembedding.ts';
import {
  type CorpusKey,
  flipModel,
  lockCorpusSettings,
  setNextModel,
} from '../../store/corpus/settings.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { findOpenReembedding, type JobRow } from '../../store/job/jobs.ts';
import { insertSubmission } from '../../store/job/submit.ts';

export interface ReembedInput extends CorpusKey {
  readonly model: string;
  /** The address of the model; undefined: in this process. */
  readonly origin?: Origin | undefined;
  readonly budgetCents?: number | undefined;
}

/**
 * From this commit on, every new current generation of the corpus has vectors of both models.
 * Returns the key of the job that re-embeds the rest; an already running one, if there is one.
 */
export async function beginReembedding(
  transaction: Transaction,
  { caller, corpus, model, origin, budgetCents }: ReembedInput,
  { key, now }: { key: string; now: number },
): Promise<string | undefined> {
  const place = placeOf({ caller, corpus });
  const settings = await lockCorpusSettings(transaction, place);
  const open = await findOpenReembedding(transaction, { caller, corpus });
  if (settings.next_model === model && open) return open.key;
  if (open) {
    const message = `job ${open.key} embeds ${corpus} with ${settings.next_model}: cancel it first`;
    throw new Failure('action_not_allowed', message);
  }
  if (settings.model === null) {
    throw new Failure('corpus_unknown', `nothing is embedded in ${corpus} yet`);
  }
  if (settings.model === model) {
    const message = `${corpus} is embedded with ${model}: set PAWL_EMBEDDER to another model first`;
    throw new Failure('action_not_allowed', message);
  }
  await setNextModel(transaction, { ...place, model });
  // The command confirms the address that is configured now.
  const use = embedUse(model);
  if (origin) await replaceOrigin(transaction, { ...place, use, url: origin.url });
  // The first page; the others follow with its last item.
  const sources = await listToReembed(transaction, { ...place, after: '' });
  if (sources.length === 0) {
    await flipModel(transaction, { ...place, model });
    return undefined;
  }
  const job = { caller, corpus, sources, priority: limits.fairness.priorityDefault, budgetCents };
  await insertSubmission(transaction, { ...job, key, type: 'reembed', force: false, now });
  return key;
}

/** The job was canceled: the corpus keeps its model, and vectors of the other are removed. */
export async function endReembedding(transaction: Transaction, job: JobRow): Promise<void> {
  if (job.type !== 'reembed') return;
  const place = placeOf(job);
  const { next_model } = await lockCorpusSettings(transaction, place);
  if (next_model === null) return;
  await setNextModel(transaction, { ...place, model: null });
  await pruneVectorsOf(transaction, { ...place, model: next_model });
}
