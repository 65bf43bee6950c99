/** The outcome of one step, and its entry in the history. */
import { type Failure, failures } from '../../kernel/failure/failure.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Deferral, ModelUse, StepResult } from '../../pipeline/pipeline.ts';
import type { Report } from '../../store/item/reports.ts';
import { withoutUploadName } from './error-record.ts';

export type StepOutcome =
  /** The step has run, or its report is on disk. */
  | { readonly kind: 'ok'; readonly step: string }
  | {
      readonly kind: 'failed';
      readonly step: string;
      readonly failure: Failure;
      readonly ms: number;
      /** The step succeeded, but its writes were refused. */
      readonly isEffect?: boolean;
      /** The result that it returned although it failed. */
      readonly result?: StepResult;
    }
  | { readonly kind: 'lost'; readonly step: string }
  | { readonly kind: 'deferred'; readonly step: string; readonly deferral: Deferral };

export type FailedStep = StepOutcome & { readonly kind: 'failed' };
export type DeferredStep = StepOutcome & { readonly kind: 'deferred' };

/** Waits until all have settled: throws the first rejection. Mostly there is only one. */
export async function outcomesOf(running: readonly Promise<StepOutcome>[]): Promise<StepOutcome[]> {
  const [only, ...others] = running;
  if (only && others.length === 0) return [await only];
  const settled = await Promise.allSettled(running);
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/** The history entry of a completed step. */
export function detailOf(result: StepResult, ms: number): Record<string, unknown> {
  return {
    duration_ms: ms,
    ...(result.model !== undefined && { model: result.model }),
    ...(result.tokensIn && { tokens_in: result.tokensIn }),
    ...(result.tokensOut && { tokens_out: result.tokensOut }),
    ...(result.costCents && { cost_cents: result.costCents }),
    ...result.detail,
  };
}

/** The history entry of a failed step, including its cost. */
export function failedDetail(
  { failure, ms, result }: FailedStep,
  { source, use }: { readonly source: string; readonly use: ModelUse | undefined },
): Record<string, unknown> {
  return {
    error_kind: failures[failure.code].kind,
    code: failure.code,
    error_code: failures[failure.code].errorCode,
    message: withoutUploadName(failure.message, source),
    ...detailOf({ ...use, ...result } as StepResult, ms),
  };
}

/** The total use of a step. Two models are listed in the order of their calls. */
export function addUse(one: ModelUse | undefined, other: ModelUse): ModelUse {
  const models = one?.model.split(', ') ?? [];
  const sum = (name: 'tokensIn' | 'tokensOut' | 'costCents'): number =>
    (one?.[name] ?? 0) + (other[name] ?? 0);
  return {
    model: [...new Set([...models, other.model])].join(', '),
    tokensIn: sum('tokensIn'),
    tokensOut: sum('tokensOut'),
    costCents: sum('costCents'),
  };
}

/** Combines the writes of the steps. */
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
