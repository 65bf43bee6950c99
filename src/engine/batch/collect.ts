/** Fetches the results of one job into the blob store and records them in its entry. */
import { type BlobStore, putParts } from '../../blob/blob.ts';
import type { BatchJobEvent } from '../../kernel/lifecycle/batch-job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { isGivenUp, type ProviderJob, statusAfter } from '../../kernel/provider-state.ts';
import type { PollAnswer } from '../../provider/batch/batch-provider.ts';
import type { BatchTaskRow, Results } from '../../store/batch/tasks.ts';
import { inputOf, type PlannedJob, readRequests } from './plan.ts';
import {
  blobScheme,
  type Collected,
  collectResults,
  mergedOutput,
  resultEntry,
} from './results.ts';

export interface CollectedJob {
  readonly entry: ProviderJob;
  readonly collected: Collected;
}

/** Throws errors of the provider and the store; the results are then read again. */
export async function collectJob(
  { planned, entry, answer }: { planned: PlannedJob; entry: ProviderJob; answer: PollAnswer },
  { row, blobs }: { readonly row: BatchTaskRow; readonly blobs: BlobStore },
): Promise<CollectedJob> {
  const expected = await expectedOf(planned, row, blobs);
  const collected = await collectResults(answer.results?.() ?? [], { expected, blobs });
  if (collected.ok === 0) {
    const why = collected.firstError ?? answer.detail ?? 'no request was sent';
    return { entry: failed(entry, `${answer.said} without a result: ${why}`), collected };
  }
  return { entry: completed(entry, collected, row.provider === null), collected };
}

async function expectedOf(
  { job }: PlannedJob,
  row: BatchTaskRow,
  blobs: BlobStore,
): Promise<Set<string>> {
  if (job.sources.length > 0) return new Set(job.sources);
  const ids = new Set<string>();
  for await (const { custom_id: id } of readRequests(blobs, inputOf(row))) ids.add(id);
  return ids;
}

export function failed(
  entry: ProviderJob,
  error: string,
  event: BatchJobEvent = isGivenUp(entry) ? 'end_late' : 'fail',
): ProviderJob {
  const status = statusAfter(entry, event);
  return { ...entry, status, error: error.slice(0, limits.batch.errorCharactersMax) };
}

/** Completions report partial failure by status, transcriptions by their results. */
function completed(entry: ProviderJob, collected: Collected, isCompletion: boolean): ProviderJob {
  const after = statusAfter(entry, isGivenUp(entry) ? 'end_late' : 'complete');
  if (!isCompletion) return { ...entry, status: after, result: resultEntry(collected) };
  const isPartial = after === 'COMPLETED' && collected.failed > 0;
  const status = isPartial ? 'PARTIAL_COMPLETE' : after;
  return { ...entry, status, output_uri: `${blobScheme}${collected.blobKey}` };
}

/** Stores the merged results of a task. Returns the key of the blob. */
export function writeOutput(
  { task_type: taskType }: BatchTaskRow,
  output: {
    readonly jobs: readonly ProviderJob[];
    readonly planned: readonly PlannedJob[];
    readonly blobs: BlobStore;
  },
): Promise<string> {
  const { jobs, planned, blobs } = output;
  const merge = planned[0]?.provider.merge ?? 'flat';
  const sources = planned.map(({ job }) => job.sources);
  return putParts(blobs, mergedOutput(jobs, { taskType, merge, blobs, sources }));
}

export const nothing: Results = { ok: 0, failed: 0, tokensIn: 0, tokensOut: 0 };

export function sumOf(all: readonly Results[]): Results {
  return all.reduce(
    (sum, each) => ({
      ok: sum.ok + each.ok,
      failed: sum.failed + each.failed,
      tokensIn: sum.tokensIn + each.tokensIn,
      tokensOut: sum.tokensOut + each.tokensOut,
    }),
    nothing,
  );
}
