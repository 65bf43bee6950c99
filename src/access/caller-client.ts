/** Operator commands on callers, on a store or through a service. */
import type { Confirmed } from '../engine/command/caller-commands.ts';
import type { CallerRow } from '../store/caller/callers.ts';
import type { CallerView } from './caller-view.ts';

export type ListedCaller = Pick<CallerRow, 'id' | 'name' | 'created_at'> & {
  readonly keys: number;
  readonly jobs: number;
};

export interface CallerClient {
  list(page: { readonly after: string; readonly limit: number }): Promise<readonly ListedCaller[]>;
  show(id: string): Promise<Omit<CallerView, 'origin' | 'merged_into'>>;
  link(id: string, hash: string, confirmed?: Confirmed): Promise<void>;
  unlink(id: string, hash: string, confirmed?: Confirmed): Promise<void>;
  move(
    from: string,
    to: string,
    what?: { readonly corpus?: string | undefined },
  ): Promise<{ readonly from: string; readonly to: string; readonly corpora: number }>;
}
