/**
 * The request to stop, one flag for each attempt. Whoever works asks the flag before each piece of
 * work; its signal also ends what is under way, such as a parser that is busy with a large file.
 */
import { Failure } from '../kernel/failure/failure.ts';

export interface CancellationFlags {
  /** A fresh flag, not requested. */
  create(attemptId: string): void;
  /** Throws where there is no flag to set: then nobody would hear of the request. */
  request(attemptId: string): void;
  isRequested(attemptId: string): boolean;
  signal(attemptId: string): AbortSignal;
  /** Takes the request back, so that the same attempt can go on. */
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
    // Of an attempt that is gone, nothing may be finished any more.
    isRequested: (attemptId) => flags.get(attemptId)?.signal.aborted ?? true,
    signal: (attemptId) => flagOf(attemptId).signal,
    clear: (attemptId) => {
      flagOf(attemptId);
      flags.set(attemptId, new AbortController());
    },
    forget: (attemptId) => void flags.delete(attemptId),
  };
}
