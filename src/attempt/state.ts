/** The state of a caller's interactive import. Every change is a new object. */
import {
  type AttemptEvent,
  type AttemptPhase,
  type AttemptStatus,
  attempt,
  firstPhase,
  restingPhase,
} from '../kernel/lifecycle/attempt.ts';
import { allowedActions } from '../kernel/lifecycle/machine.ts';

export interface AttemptState {
  readonly status: AttemptStatus;
  readonly phase: AttemptPhase;
  readonly attemptId: string | null;
  /** Whether a resumed attempt would have something to continue with. */
  readonly stagedWorkRemaining: boolean;
}

export const idleState: AttemptState = Object.freeze({
  status: 'idle',
  phase: restingPhase,
  attemptId: null,
  stagedWorkRemaining: false,
});

export function startedState(attemptId: string): AttemptState {
  return Object.freeze({
    status: 'running',
    phase: firstPhase,
    attemptId,
    stagedWorkRemaining: true,
  });
}

/** Keeps its id, so that clients can tell which attempt completed. */
export function completeState(attemptId: string): AttemptState {
  return Object.freeze({
    status: 'complete',
    phase: restingPhase,
    attemptId,
    stagedWorkRemaining: false,
  });
}

export function withStatus(state: AttemptState, status: AttemptStatus): AttemptState {
  return Object.freeze({ ...state, status });
}

export function withPhase(state: AttemptState, phase: AttemptPhase): AttemptState {
  return Object.freeze({ ...state, phase });
}

/** The actions that the one button offers now. */
export function actionsOf({ status }: AttemptState): readonly AttemptEvent[] {
  return allowedActions(attempt, status);
}
