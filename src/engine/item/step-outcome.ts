/** What became of one step of an attempt, and what the history says of it. */
import { type Failure, failures } from '../../kernel/failure/failure.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Deferral, ModelUse, StepResult } from '../../pipeline/pipeline.ts';
import type { Report } from '../../store/item/reports.ts';
import { toldOf } from './error-record.ts';

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
    ...result.detail,
  };
}

/** What the history says of a step that failed: what it has cost stands there all the same. */
export function failedDetail(
  { failure, ms, result }: FailedStep,
  { source, use }: { readonly source: string; readonly use: ModelUse | undefined },
): Record<string, unknown> {
  return {
    error_kind: failures[failure.code].kind,
    code: failure.code,
    error_code: failures[failure.code].errorCode,
    message: toldOf(failure.message, source),
    ...detailOf({ ...use, ...result } as StepResult, ms),
  };
}

/** All that a run of a step has used. Two models are told of as they are asked. */
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
