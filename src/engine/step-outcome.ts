/** What became of one step of an attempt, and what the history says of it. */
import type { Failure } from '../kernel/failure.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Deferral, StepResult } from '../pipeline/pipeline.ts';
import type { Report } from '../store/reports.ts';

export type StepOutcome =
  /** The step has run, or its report is on disk. */
  | { readonly kind: 'ok'; readonly step: string }
  | {
      readonly kind: 'failed';
      readonly step: string;
      readonly failure: Failure;
      readonly ms: number;
      /** The step went well, but what it wanted to write was refused. */
      readonly isEffect?: boolean;
      /** What it hands back although it failed. */
      readonly result?: StepResult;
    }
  | { readonly kind: 'lost'; readonly step: string }
  | { readonly kind: 'deferred'; readonly step: string; readonly deferral: Deferral };

export type FailedStep = StepOutcome & { readonly kind: 'failed' };
export type DeferredStep = StepOutcome & { readonly kind: 'deferred' };

/** Of promises that have all come to an end: the first that was broken breaks all. */
export function valuesOf<T>(settled: readonly PromiseSettledResult<T>[]): T[] {
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/** What the history says of a step that was completed. */
export function detailOf(result: StepResult, ms: number): Record<string, unknown> {
  return {
    duration_ms: ms,
    ...(result.model !== undefined && { model: result.model }),
    ...(result.tokensIn && { tokens_in: result.tokensIn }),
    ...(result.tokensOut && { tokens_out: result.tokensOut }),
    ...(result.costCents && { cost_cents: result.costCents }),
    ...(result.counts?.chunks !== undefined && { chunks: result.counts.chunks }),
    ...result.detail,
  };
}

/** What the steps write, as one. */
export function effectOf(
  results: readonly (StepResult | undefined)[],
  now: () => number,
): Report['effect'] {
  const effects = results.flatMap((result) => result?.effect ?? []);
  if (effects.length === 0) return undefined;
  return async (transaction) => {
    const events: NewEvent[] = [];
    for (const effect of effects) events.push(...((await effect(transaction, now())) ?? []));
    return events;
  };
}
