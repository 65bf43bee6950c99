/**
 * The stop flag of each attempt. Workers check the flag before each piece of work; its signal also
 * aborts running work, such as a parser that is busy with a large file.
 */
import { Failure } from '../kernel/failure/failure.ts';

export interface CancellationFlags {
  /** A fresh flag, not requested. */
  create(attemptId: string): void;
  /** Throws if there is no flag: then the request would have no effect. */
  request(attemptId: string): void;
  isRequested(attemptId: string): boolean;
  signal(attemptId: string): AbortSignal;
  /** Clears the request, so that the same attempt can continue. */
  clear(attemptId: string): void;
  forget(attemptId: string): void;
}

export function makeCancellationFlags(): CancellationFlags {
  const flags = new Map<string, AbortController>();
  const flagOf = (attemptId: string): AbortController => {
    const flag = flags.get(attemptId);
    if (flag) return flag;
    throw new Failure('internal_error', `the attempt ${attemptId} has no cancellation flag`);
  };
  return {
    create: (attemptId) => void flags.set(attemptId, new AbortController()),
    request: (attemptId) => {
      const reason = new Failure('canceled', 'the attempt was asked to stop');
      flagOf(attemptId).abort(reason);
    },
    // An attempt that no longer exists must not finish anything.
    isRequested: (attemptId) => flags.get(attemptId)?.signal.aborted ?? true,
    signal: (attemptId) => flagOf(attemptId).signal,
    clear: (attemptId) => {
      flagOf(attemptId);
      flags.set(attemptId, new AbortController());
    },
    forget: (attemptId) => void flags.delete(attemptId),
  };
}
