/** The cost of a batch task, beside the cost of the same live requests. */

import type { BatchTask } from '../../contract/operation/batch.ts';
import type { ProviderState } from '../../kernel/provider-state.ts';
import { costOf, priceOf } from '../../provider/prices.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';

/**
 * At list prices. Tokens are counted per task, so the cost is only known if one model has used all
 * of them and its price is known.
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
