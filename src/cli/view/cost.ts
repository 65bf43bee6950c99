/** Formats the cost of a job or a corpus. */
import type { JobSummary } from '../../index.ts';
import { count, money } from './wording.ts';

export interface Cost {
  readonly tokens: number;
  readonly tokensUnpriced: number;
  readonly costCents: number;
  readonly saved: { readonly tokens: number; readonly cents: number };
}

export function costOfJob({ tokens, tokensUnpriced, costCents, saved }: JobSummary): Cost {
  return { tokens: tokens.in + tokens.out, tokensUnpriced, costCents, saved };
}

/** `1,234 tokens for 0.42 cents`. An unknown price is shown as unknown, never as 0. */
export function costLine({ tokens, tokensUnpriced, costCents }: Cost): string {
  const all = count(tokens, 'token');
  if (tokensUnpriced === 0) return `${all} for ${money(costCents)}`;
  if (tokensUnpriced >= tokens) return `${all}, cost unknown (set PAWL_EMBEDDER_PRICE)`;
  return `${all} for ${money(costCents)}, cost of ${count(tokensUnpriced, 'token')} unknown`;
}

/** `987 tokens, 0.3 cents`. */
export function savedLine({ saved }: Cost): string {
  const worth = saved.cents > 0 ? `, ${money(saved.cents)}` : '';
  return `${count(saved.tokens, 'token')}${worth}`;
}
