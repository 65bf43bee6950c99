/** Formats the cost of a job or a corpus. */
import type { Job } from '../../contract/schema/schema.ts';
import { count, money } from './wording.ts';

export type Cost = Pick<
  Job,
  'tokens' | 'tokens_unpriced' | 'cost_cents' | 'tokens_saved' | 'saved_cents'
>;

/** `1,234 tokens for 0.42 cents`. An unknown price is shown as unknown, never as 0. */
export function costLine({ tokens, tokens_unpriced: unpriced, cost_cents: cents }: Cost): string {
  const total = tokens.in + tokens.out;
  const all = count(total, 'token');
  if (unpriced === 0) return `${all} for ${money(cents)}`;
  if (unpriced >= total) return `${all}, cost unknown (set PAWL_EMBEDDER_PRICE)`;
  return `${all} for ${money(cents)}, cost of ${count(unpriced, 'token')} unknown`;
}

/** `987 tokens, 0.3 cents`. */
export function savedLine({ tokens_saved: tokens, saved_cents: cents }: Cost): string {
  return `${count(tokens, 'token')}${cents > 0 ? `, ${money(cents)}` : ''}`;
}

/** The cost and the savings, if there are any. */
export function costPairs(cost: Cost): (readonly [string, string])[] {
  return [
    ...(cost.tokens.in + cost.tokens.out > 0 ? [['cost', costLine(cost)] as const] : []),
    ...(cost.tokens_saved > 0 ? [['saved', savedLine(cost)] as const] : []),
  ];
}
