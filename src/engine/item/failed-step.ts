/** Decides how an item continues after a step failed: the reaction, the move and its event. */
import { retryPolicyFor } from '../../kernel/backoff.ts';
import { failures } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { type Reaction, react } from '../../kernel/reaction.ts';
import type { World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Move } from '../../store/item/reports.ts';
import { errorRecord } from './error-record.ts';
import type { FailedStep } from './step-outcome.ts';

export interface FailedStepContext {
  readonly stage: Stage;
  /** Failed tries of the item since its last committed step, without this one. */
  readonly failedTries: number;
  readonly worker: string;
  readonly source: string;
  readonly now: number;
  readonly world: World;
}

/** Tries that a remote worker has already made count: they are not repeated here. */
export function reactTo({ failure }: FailedStep, context: FailedStepContext): Reaction {
  const { stage, failedTries, now, world } = context;
  return react({
    outcome: { kind: failures[failure.code].kind, failure },
    failedTries: Math.max(failedTries, failure.tries - 1),
    policy: retryPolicyFor(stage, failure.code),
    now,
    random: () => world.random(),
  });
}

export interface Decision {
  readonly move: Move;
  readonly kind: NewEvent['kind'];
  readonly detail: Readonly<Record<string, unknown>>;
}

export function decide(
  reaction: Reaction,
  { step, failure }: FailedStep,
  { stage, failedTries, worker, source, now }: FailedStepContext,
): Decision {
  const tries = Math.max(failedTries + 1, failure.tries);
  const { message } = failure;
  const error = errorRecord({ step, stage, failure, message, attempt: tries, worker, source, now });
  if (reaction.do === 'retry' || reaction.do === 'wait') {
    const { dueAt, reason } = reaction;
    const { code, error_code, kind: error_kind } = error;
    const spends_retry = reaction.do === 'retry';
    const attempt = reaction.do === 'retry' ? reaction.failedTries : failedTries;
    return {
      move: { to: 'time', dueAt, attempt, error: { ...error } },
      kind: 'retry_scheduled',
      detail: { due_at: dueAt, reason, code, error_code, error_kind, spends_retry },
    };
  }
  return {
    move: { to: 'failed', attempt: tries, error: { ...error } },
    kind: 'item_failed',
    detail: {
      code: failure.code,
      source: error.context.url,
      message: error.message,
      reason: reaction.do === 'fail' ? reaction.reason : failure.code,
    },
  };
}
