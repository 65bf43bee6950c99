/**
 * The interactive ingestion of a caller, one for each. It lives in memory only: closing the
 * application ends it, and nothing of it survives but the text it had committed.
 *
 * `paused` is reached only after the cancellation has finished; asking to stop leads to `stopping`.
 * No status is final: one registry serves attempt after attempt, and `complete` stays visible,
 * apart from `idle`, until the next start.
 */
import { allowedActions, defineMachine, type EventOf, type StateOf, statesOf } from './machine.ts';

export const attempt = defineMachine({
  name: 'attempt',
  initial: 'idle',
  states: ['idle', 'running', 'stopping', 'paused', 'complete'],
  final: [],
  actions: ['start', 'stop', 'resume'],
  edges: [
    ['start', ['idle', 'complete'], 'running'],
    ['stop', ['running'], 'stopping'],
    ['canceled_with_work', ['stopping'], 'paused'],
    ['canceled_without_work', ['stopping'], 'idle'],
    ['resume', ['paused'], 'running'],
    // All its staged sources were removed, or its workspace is gone.
    ['discard', ['paused'], 'idle'],
    ['complete', ['running'], 'complete'],
    // Late results must find an attempt that is being canceled, so this is not a way back to idle.
    ['app_close', ['running', 'stopping', 'paused'], 'stopping'],
  ],
});

export type AttemptStatus = StateOf<typeof attempt>;

/** The statuses by name, for comparisons. */
export const attemptStatus = statesOf(attempt);
export type AttemptEvent = EventOf<typeof attempt>;

/** There is an attempt: no other can start. */
export function isOpenAttempt(status: AttemptStatus): boolean {
  return !allowedActions(attempt, status).includes('start');
}

export interface PhaseRow {
  readonly phase: string;
  /** Whether a person may leave now and lose nothing of the attempt. */
  readonly safeToLeave: boolean;
}

/** How far an attempt has come, in order. */
export const phaseTable = [
  // The phase of idle and complete: there is no attempt that leaving could hurt.
  { phase: 'not_started', safeToLeave: true },
  { phase: 'preflight', safeToLeave: false },
  { phase: 'parsing', safeToLeave: false },
  { phase: 'splitting', safeToLeave: false },
  { phase: 'atomic_text_commit', safeToLeave: false },
  // Text and chunks are on disk; what remains is the work of durable items.
  { phase: 'text_committed', safeToLeave: true },
] as const satisfies readonly PhaseRow[];

export type AttemptPhase = (typeof phaseTable)[number]['phase'];

export const restingPhase: AttemptPhase = 'not_started';
export const firstPhase: AttemptPhase = 'preflight';

/** The phase alone decides: `running` may be before or after the commit. */
export function isSafeToLeave(phase: AttemptPhase): boolean {
  return phaseTable.some((row) => row.phase === phase && row.safeToLeave);
}

/** What the end of a cancellation means depends on what it left behind. */
export function cancellationEvent(stagedWorkRemains: boolean): AttemptEvent {
  return stagedWorkRemains ? 'canceled_with_work' : 'canceled_without_work';
}

/** A second stop is neither a transition nor an error: the answer is the present state. */
export function isRepeatedStop(status: AttemptStatus, event: AttemptEvent): boolean {
  return status === 'stopping' && event === 'stop';
}
