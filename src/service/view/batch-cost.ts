/** What a batch task has cost, beside what the same would have cost at once. */

import type { BatchTask } from '../../contract/operation/batch.ts';
import type { ProviderState } from '../../kernel/provider-state.ts';
import { costOf, priceOf } from '../../provider/prices.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';

/**
 * By the vendor's list. Tokens are counted for the whole task, so there is a cost only where all of
 * them are of one model; and none where nobody knows its price.
 */
export function batchCost(
  { tokens_in: input, tokens_out: output }: Pick<BatchTaskRow, 'tokens_in' | 'tokens_out'>,
  state: Pick<ProviderState, 'jobs'> | null,
): BatchTask['cost'] {
  const [model, ...others] = [...new Set(state?.jobs.map((job) => job.model))];
  const price = model === undefined || others.length > 0 ? undefined : priceOf(model);
  if (!price?.batch || input + output === 0) return null;
  const tokens = { input, output };
  return { cents: costOf(tokens, price.batch), at_once_cents: costOf(tokens, price) };
}
