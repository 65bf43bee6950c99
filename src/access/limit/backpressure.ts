/**
 * Protects the service: submissions to a queue that is too deep are refused with a time to wait.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

/**
 * The refusal for a queue of this depth, or undefined if there is room. The same for every caller.
 */
export function backpressure(
  depth: number,
  max: number = limits.rate.queueDepthMax,
): Failure | undefined {
  if (depth <= max) return undefined;
  return new Failure('queue_full', `${depth} items are waiting, and the maximum is ${max}`, {
    retryAfterMs: limits.rate.queueRetryAfterMs,
  });
}
