/** The state of a caller's interactive import. Every change is a new object. */
import {
  type AttemptPhase,
  type AttemptStatus,
  firstPhase,
  restingPhase,
} from '../kernel/lifecycle/attempt.ts';

export interface AttemptState {
  readonly status: AttemptStatus;
  readonly phase: AttemptPhase;
  readonly attemptId: string | null;
  /** Whether a resumed attempt would have something to continue with. */
  readonly stagedWorkRemaining: boolean;
}

const resting = { phase: restingPhase, stagedWorkRemaining: false };

export const idleState: AttemptState = Object.freeze({
  ...resting,
  status: 'idle',
  attemptId: null,
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
  return Object.freeze({ ...resting, status: 'complete', attemptId });
}

export function withStatus(state: AttemptState, status: AttemptStatus): AttemptState {
  return Object.freeze({ ...state, status });
}

export function withPhase(state: AttemptState, phase: AttemptPhase): AttemptState {
  return Object.freeze({ ...state, phase });
}
