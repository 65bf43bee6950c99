/** The state of a caller's interactive import. Every change is a new object. */
import {
  type AttemptPhase,
  type AttemptStatus,
  attempt,
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

/** All but the status, which only a move of the table gives. */
export type Details = Omit<AttemptState, 'status'>;

/** No attempt. */
export const noDetails: Details = {
  phase: restingPhase,
  attemptId: null,
  stagedWorkRemaining: false,
};

export const idleState: AttemptState = Object.freeze({ status: attempt.initial, ...noDetails });

export function startedDetails(attemptId: string): Details {
  return { phase: firstPhase, attemptId, stagedWorkRemaining: true };
}

/** Keeps its id, so that clients can tell which attempt completed. */
export function completeDetails(attemptId: string): Details {
  return { ...noDetails, attemptId };
}

export function withPhase(state: AttemptState, phase: AttemptPhase): AttemptState {
  return Object.freeze({ ...state, phase });
}
